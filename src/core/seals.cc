#include "core/seals.h"

#include "core/sha256.h"

#include <utility>

namespace lauka {

namespace {

constexpr std::size_t kSealDigits = 16;
constexpr std::string_view kSealBegins = ",\"seal\":\"";
constexpr std::string_view kSealEnds = "\"}";

}  // namespace

std::string Seals::seal(std::string line) {
  Sha256 hash;
  hash.add(latest_);
  hash.add(line);
  latest_ = hash.hex_digest().substr(0, kSealDigits);
  return std::move(line) + " " + latest_;
}

std::optional<std::string_view> Seals::open(std::string_view sealed) {
  const std::string_view line = sealed.substr(0, sealed.rfind(' '));
  if (seal(std::string(line)) != sealed) return std::nullopt;
  return line;
}

std::string Seals::seal_json(std::string_view object) {
  seal(std::string(object));
  return std::string(object.substr(0, object.size() - 1))
      .append(kSealBegins)
      .append(latest_)
      .append(kSealEnds);
}

std::optional<std::string> Seals::open_json(std::string_view sealed) {
  constexpr std::size_t added = kSealBegins.size() + kSealDigits + kSealEnds.size();
  if (sealed.size() <= added) return std::nullopt;
  const std::string object = std::string(sealed.substr(0, sealed.size() - added)) + "}";
  if (seal_json(object) != sealed) return std::nullopt;
  return object;
}

}  // namespace lauka
