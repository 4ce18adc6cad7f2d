#include "history/database.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::history {

TEST_CASE("an address is called by scheme, host and database") {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"postgresql://host/db", "postgresql://host/db"},
      {"postgres://user@host:5432/db", "postgres://host/db"},
      {"POSTGRES://user:a:b?c=d@host/db", "postgres://host/db"},
      {"postgresql://user:pw@[::1]:5432,b:1/db?sslmode=require", "postgresql://[::1],b/db"},
      {"postgresql://%2Frun%2Fpg/db", "postgresql://%2Frun%2Fpg/db"},
      {"postgresql:///db?host=/run&password=p@q", "postgresql:///db"},
      {"postgresql://", "postgresql://"},
      {"postgresql://u:p@a@host/db", "postgresql://..."},
      {"postgresql://u:p/a@host/db", "postgresql://..."},
      {"postgresql://u:99999", "postgresql://..."},
      {"postgresql://u:p%0@host/db", "postgresql://..."},
      {"postgresql:/u:p@host/db", "postgresql://..."},
      {"mysql://u:p@host/db", "mysql://..."},
      {"u@p://x", "u://..."},
      {"a:b.db", "a:b.db"},
      {"/tmp/history.db", "/tmp/history.db"}};
  for (const auto& one : names) {
    CAPTURE(one.first);
    CHECK(name_of_database(one.first) == one.second);
  }
}

TEST_CASE("SOCI is given an address that it leaves as it is, with all that it has") {
  const auto url = [](const std::string& where) { return parse_address(where).value().url; };
  const std::string nothing = "fallback_application_name=lauka-history";
  // libpq takes the last of two parameters of one name, whose value is not the user's own.
  CHECK(url("postgresql://user@host/db") == "postgresql://user@host/db?" + nothing + "&" + nothing);
  CHECK(url("Postgres://u:a=b c'\"@h/d?host=/my run&x=%20&") ==
        "postgres://u:a%3Db%20c%27%22@h/d?" + nothing + "&host=/my%20run&x=%20&" + nothing);
}

TEST_CASE("what a message repeats of an address's password is taken out, coded or not") {
  const auto address = parse_address("postgresql://u:a%40b@h/d?sslpassword=q").value();
  CHECK(without_secrets("u a%40b a@b a@ba@b q", address) == "u ... ... ...... ...");
}

}  // namespace lauka::history
