// Makes so many bytes resident by writing to each of their pages, and frees nothing until it ends.
#include "arguments.h"

#include <cstddef>
#include <cstdio>

#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const auto arguments = fixture::arguments_of(argc, argv);
  const auto size = arguments.size() == 1 ? fixture::to_bytes(arguments[0]) : std::nullopt;
  if (!size || *size == 0) {
    fixture::refuse("touch_memory SIZE   (50MB is 50 000 000 bytes, 50M is 50 * 2^20)");
  }
  void* const memory =
      mmap(nullptr, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("touch_memory");
    return 1;
  }
  auto* const bytes = static_cast<volatile unsigned char*>(memory);
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (std::size_t offset = 0; offset < *size; offset += page) {
    bytes[offset] = 1;
  }
  return 0;
}
