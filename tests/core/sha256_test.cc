#include "core/sha256.h"

#include <string>

#include <doctest/doctest.h>

namespace lauka {
namespace {

std::string hash(const std::string& text) {
  Sha256 sum;
  sum.add(text);
  return sum.hex_digest();
}

}  // namespace

// NIST's examples of FIPS 180-4 and its vectors for short messages.
TEST_CASE("the hashes are those that NIST publishes") {
  CHECK(hash("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hash("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(hash("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
             "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu") ==
        "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  CHECK(hash(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  CHECK(hash("\xd3") == "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1");
}

TEST_CASE("a hash is the same however the text is divided, at every length around a block") {
  for (std::size_t length = 50; length <= 140; ++length) {
    CAPTURE(length);
    const std::string text(length, 'x');
    const std::string whole = hash(text);
    for (const std::size_t piece :
         {std::size_t{1}, std::size_t{7}, std::size_t{63}, std::size_t{64}, std::size_t{65}}) {
      Sha256 sum;
      for (std::size_t at = 0; at < length; at += piece) sum.add(text.substr(at, piece));
      CHECK(sum.hex_digest() == whole);
    }
  }
  CHECK(hash(std::string(55, 'x')) != hash(std::string(56, 'x')));
}

}  // namespace lauka
