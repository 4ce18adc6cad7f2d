# Homebrew's formula. scripts/release fills in the words between @ signs.
class Lauka < Formula
  desc "Compares the performance of commands, with hardware counters and CI gates"
  homepage "@HOME@"
  version "@VERSION@"
  license "MIT"

  on_macos do
    depends_on arch: :arm64
    depends_on macos: :ventura
    url "@RELEASES@/lauka-@VERSION@-macos-arm64.tar.gz"
    sha256 "@SHA256:lauka-@VERSION@-macos-arm64.tar.gz@"
  end
  on_linux do
    on_arm do
      url "@RELEASES@/lauka-@VERSION@-linux-arm64.tar.gz"
      sha256 "@SHA256:lauka-@VERSION@-linux-arm64.tar.gz@"
    end
    on_intel do
      url "@RELEASES@/lauka-@VERSION@-linux-x86_64.tar.gz"
      sha256 "@SHA256:lauka-@VERSION@-linux-x86_64.tar.gz@"
    end
  end

  def install
    bin.install "bin/lauka"
    include.install "include/lauka"
    man1.install "share/man/man1/lauka.1"
    bash_completion.install "share/bash-completion/completions/lauka"
    zsh_completion.install "share/zsh/site-functions/_lauka"
    fish_completion.install "share/fish/vendor_completions.d/lauka.fish"
    doc.install Dir["share/doc/lauka/*"]
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/lauka --version")
    assert_match "true,wall_time,s,2,", shell_output("#{bin}/lauka -q -r2 --export-csv - true")
  end
end
