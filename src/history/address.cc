#include "history/address.h"

#include "core/numbers.h"
#include "core/text.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

// SOCI takes a connection string apart at white space and the first '=' and puts it together again:
// 4.0 adds a '=' to an address that has none, 4.1 puts the value in quotes. So the address that it
// is given begins and ends its query with a parameter that means nothing, and has all else that
// SOCI would look at in percent codes.

namespace lauka::history {

namespace {

constexpr std::string_view kMeansNothing = "fallback_application_name=lauka-history";

/// `text` without its percent codes; none: one of them is wrong.
std::optional<std::string> plain_of(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    const std::string_view digits = text.substr(i + 1, 2);
    const auto code = digits.size() == 2 ? parse_hex(digits) : std::nullopt;
    if (!code || *code == 0) return std::nullopt;
    plain += static_cast<char>(*code);
    i += 2;
  }
  return plain;
}

std::string percent_coded(std::string_view text, std::string_view what) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string coded;
  for (const char c : text) {
    if (what.find(c) == std::string_view::npos) {
      coded += c;
      continue;
    }
    const auto code = static_cast<unsigned char>(c);
    coded += {'%', digits[code / 16U], digits[code % 16U]};
  }
  return coded;
}

/// The host of host:port or [host]:port; none: it is neither.
std::optional<std::string_view> host_in(std::string_view text) {
  std::size_t end = text.find(':');
  if (text.substr(0, 1) == "[") {
    end = text.find(']');
    if (end == std::string_view::npos || end == 1) return std::nullopt;
    ++end;
  }
  const std::string_view port = text.substr(std::min(end, text.size()));
  if (port.empty()) return text;
  if (port.front() != ':') return std::nullopt;
  if (port.size() > 1 && !parse_whole_number(port.substr(1), 1, 65'535)) return std::nullopt;
  return text.substr(0, end);
}

/// Hosts without their ports; none: one is none.
std::optional<std::string> hosts_in(std::string_view text) {
  std::string hosts;
  for (const std::string_view one : split(text, ',')) {
    const auto host = host_in(one);
    if (!host || !plain_of(*host)) return std::nullopt;
    hosts += (hosts.empty() ? "" : ",") + std::string(*host);
  }
  return hosts;
}

bool add_secret(Address& address, std::string_view text) {
  const auto plain = plain_of(text);
  if (!plain) return false;
  address.secrets.insert(address.secrets.end(), {std::string(text), *plain});
  return true;
}

/// False: it is no list of key=value.
bool add_query(Address& address, std::string_view query) {
  for (const std::string_view parameter : split(query, '&')) {
    const std::size_t equals = parameter.find('=');
    if (parameter.empty()) continue;
    if (equals == std::string_view::npos) return false;
    const auto key = plain_of(parameter.substr(0, equals));
    const std::string_view value = parameter.substr(equals + 1);
    if (!key || !plain_of(value) || value.find('=') != std::string_view::npos) return false;
    if (key->find("password") != std::string::npos && !add_secret(address, value)) return false;
    address.url += percent_coded(parameter, " \t\n\v\f\r'\"") + "&";
  }
  return true;
}

/// What follows postgresql://, as libpq reads it.
bool add_parts(Address& address, std::string_view text) {
  std::string_view rest = text;
  if (const std::size_t end = rest.find_first_of("@/");
      rest.substr(std::min(end, rest.size()), 1) == "@") {
    const std::string_view user = rest.substr(0, end);
    const std::size_t colon = user.find(':');
    if (!plain_of(user.substr(0, colon))) return false;
    if (colon != std::string_view::npos && !add_secret(address, user.substr(colon + 1)))
      return false;
    rest.remove_prefix(end + 1);
  }
  const std::string_view place = rest.substr(0, rest.find('?'));
  // A second '@' or a '/' in a password: what follows would be taken for host or database.
  if (place.find('@') != std::string_view::npos) return false;
  const auto hosts = hosts_in(place.substr(0, place.find('/')));
  const std::string_view database = place.substr(std::min(place.find('/'), place.size()));
  if (!hosts || !plain_of(database)) return false;
  const std::size_t before_query =
      static_cast<std::size_t>(place.data() - text.data()) + place.size();
  address.name += *hosts + std::string(database);
  address.url += percent_coded(text.substr(0, before_query), " \t\n\v\f\r'\"=");
  address.url += "?" + std::string(kMeansNothing) + "&";
  if (before_query < text.size() && !add_query(address, text.substr(before_query + 1)))
    return false;
  address.url += kMeansNothing;
  return true;
}

/// In small letters, as far as it can be one.
std::string scheme_of(const std::string& where) {
  return lower_case(where.substr(0, where.find(':')));
}

bool is_of_postgresql(const std::string& scheme) {
  return scheme == "postgresql" || scheme == "postgres";
}

}  // namespace

bool is_address(const std::string& where) {
  if (where.find(':') == std::string::npos) return false;
  return is_of_postgresql(scheme_of(where)) || where.find("://") != std::string::npos;
}

Result<Address> address_in(const std::string& where) {
  const std::string scheme = scheme_of(where);
  if (!is_of_postgresql(scheme))
    return Error{"has an address of another kind",
                 "write postgresql://user@host/database, or FILE"};
  Address address{.name = scheme + "://", .url = scheme + "://"};
  const std::string_view rest = std::string_view(where).substr(scheme.size());
  if (rest.substr(0, 3) != "://" || !add_parts(address, rest.substr(3)))
    return Error{"has an address that cannot be read",
                 "write postgresql://user@host/database, and the password into PGPASSWORD or "
                 "~/.pgpass; in an address its % @ / ? are %25 %40 %2F %3F"};
  return address;
}

std::string name_of_database(const std::string& where) {
  if (!is_address(where)) return where;
  const auto address = address_in(where);
  return address ? address->name : where.substr(0, where.find_first_of(":/@")) + "://...";
}

std::string without_secrets(std::string text, const Address& address) {
  for (const std::string& secret : address.secrets) {
    if (secret.empty()) continue;
    for (std::size_t at = text.find(secret); at != std::string::npos;
         at = text.find(secret, at + 3))
      text.replace(at, secret.size(), "...");
  }
  return text;
}

}  // namespace lauka::history
