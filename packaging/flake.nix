# Builds lauka from this repository with Nix. Not tried: it was evaluated, but never built.
#   nix run 'github:lauka/lauka?dir=packaging' -- ./old ./new
{
  description = "Compares the performance of commands, with hardware counters and CI gates";

  outputs =
    { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "aarch64-darwin" ];
      version = builtins.head (
        builtins.match ".*project\\(lauka VERSION ([0-9.]+).*" (builtins.readFile ../CMakeLists.txt)
      );
      lauka =
        pkgs:
        pkgs.stdenv.mkDerivation {
          pname = "lauka";
          inherit version;
          src = ../.;
          nativeBuildInputs = [ pkgs.cmake pkgs.ninja ];
          buildInputs =
            [ pkgs.boost pkgs.expat pkgs.fmt pkgs.nlohmann_json pkgs.pcre2 pkgs.tomlplusplus ]
            ++ pkgs.lib.optionals pkgs.stdenv.hostPlatform.isLinux [ pkgs.elfutils pkgs.libiberty ];
          cmakeFlags = [
            "-DLAUKA_STATIC_RUNTIME=OFF"
            "-DLAUKA_TESTS=OFF"
            "-DCMAKE_DISABLE_FIND_PACKAGE_SOCI=ON" # this package is lauka alone
          ];
          doInstallCheck = true;
          installCheckPhase = ''
            $out/bin/lauka -q -r2 true
          '';
          meta = {
            homepage = "https://github.com/lauka/lauka";
            license = pkgs.lib.licenses.mit;
            mainProgram = "lauka";
            platforms = systems;
          };
        };
    in
    {
      packages = nixpkgs.lib.genAttrs systems (system: {
        default = lauka nixpkgs.legacyPackages.${system};
      });
    };
}
