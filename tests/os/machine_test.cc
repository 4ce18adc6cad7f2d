#include "os/this_machine.h"

#include <doctest/doctest.h>

namespace lauka::os {

TEST_CASE("the processor's model is read from /proc/cpuinfo") {
  CHECK(parse_cpu_model("processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel\t\t: 49\n"
                        "model name\t: AMD EPYC 7502 \r\nmodel name\t: other\n") ==
        "AMD EPYC 7502");
}

TEST_CASE("an ARM processor without a model's name gets its maker and part") {
  CHECK(parse_cpu_model("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n") ==
        "implementer 0x41, part 0xd0c");
  CHECK(parse_cpu_model("").empty());
  CHECK(parse_cpu_model("no separator\n\n").empty());
}

TEST_CASE("processors of one name are told apart by family, model and stepping, and by features") {
  Machine machine;
  take_cpuinfo(
      "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\nmodel name\t: AMD EPYC\n"
      "stepping\t: 1\nflags\t\t: fpu avx avx2 erms hypervisor avx512_bf16\n",
      machine);
  CHECK(machine.cpu_model == "AMD EPYC");
  CHECK(machine.cpu_identity == "family 25, model 1, stepping 1");
  CHECK(machine.cpu_features == "avx avx2 erms");
}

TEST_CASE("an ARM processor is told apart by maker, part, variant and revision") {
  Machine machine;
  take_cpuinfo(
      "Features\t: fp asimd atomics sve\nCPU implementer\t: 0x41\nCPU variant\t: 0x3\n"
      "CPU part\t: 0xd0c\nCPU revision\t: 1\n",
      machine);
  CHECK(machine.cpu_identity == "implementer 0x41, part 0xd0c, variant 0x3, revision 1");
  CHECK(machine.cpu_features == "atomics sve");
}

TEST_CASE("the class of a machine depends on the processor's identity and features, if known") {
  const Machine older{.system = "Linux", .cpu_model = "AMD EPYC"};
  Machine one = older;
  one.cpu_identity = "family 25, model 1, stepping 1";
  Machine other = one;
  other.cpu_identity = "family 25, model 17, stepping 1";
  CHECK(class_of(one) != class_of(other));
  Machine with_features = one;
  with_features.cpu_features = "avx2";
  CHECK(class_of(one) != class_of(with_features));
  // As computed before there were identities, so that older sessions keep their class.
  CHECK(class_of(older) == "ca03a2a9b933c411");
}

TEST_CASE("this process has a nice value") {
  const auto priority = own_priority();
  REQUIRE(priority);
  CHECK(priority->nice >= -20);
  CHECK(priority->nice <= 19);
}

TEST_CASE("the system's name is read from /etc/os-release") {
  CHECK(parse_os_name("ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n") ==
        "Debian GNU/Linux 12 (bookworm)");
  CHECK(parse_os_name("PRETTY_NAME=Void") == "Void");
  CHECK(parse_os_name("PRETTY_NAME=\"").size() == 1);
  CHECK(parse_os_name("ID=debian\n").empty());
}

TEST_CASE("this machine has a name for its system, its kernel and at least one processor") {
  const Machine machine = this_machine();
  CHECK_FALSE(machine.system.empty());
  CHECK_FALSE(machine.kernel.empty());
  CHECK_FALSE(machine.architecture.empty());
  CHECK(machine.cpus >= 1);
}

}  // namespace lauka::os
