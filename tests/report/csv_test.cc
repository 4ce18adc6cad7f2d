#include "report/csv.h"

#include "report/example.h"

#include <doctest/doctest.h>

namespace lauka::report {

TEST_CASE("the CSV has one row for each command and metric, in base units") {
  Results results = manual_example();
  results.metrics[2] = metric("ipc", Unit::Ratio, Better::More, Shown::Verbose);
  results.commands[0].rows.resize(2);
  results.commands[1].rows = {
      row(0, summary(9, 0.130, 0.0083, 0.125, 0.141), stats::Delta{-0.75, 0.5, true}),
      row(2, summary(4, 2.5, 0.25, 2.25, 2.75, 1), stats::Delta{0.25, std::nullopt, false})};
  CHECK(summary_csv(results) ==
        "command,metric,unit,runs,mean,stddev,median,min,max,outliers,"
        "delta_percent,delta_low_percent,delta_high_percent\n"
        "./build-old,wall_time,s,9,0.591,0.0076,0.594,0.583,0.605,0,,,\n"
        "./build-old,peak_rss,B,9,137000000,300000,137000000,136600000,137400000,0,,,\n"
        "./build-new -O2,wall_time,s,9,0.13,0.0083,0.133,0.125,0.141,0,-75,-125,-25\n"
        "./build-new -O2,ipc,ratio,4,2.5,0.25,2.5,2.25,2.75,1,25,,\n");
}

TEST_CASE("what is undefined is an empty field, and a bound is a maximum") {
  Results results;
  results.metrics = {metric("peak_rss", Unit::Bytes), metric("major_faults", Unit::Count),
                     metric("cycles", Unit::Count)};
  MetricResult bound;
  bound.runs = 1;
  bound.at_most = 819200;
  MetricResult none;
  none.metric = 2;
  results.commands = {command(
      "a", 1,
      {bound,
       row(1, summary(1, 3, std::nullopt, 3, 3), stats::Delta{std::nullopt, std::nullopt, false}),
       none})};
  CHECK(summary_csv(results) ==
        "command,metric,unit,runs,mean,stddev,median,min,max,outliers,"
        "delta_percent,delta_low_percent,delta_high_percent\n"
        "a,peak_rss,B,1,,,,,819200,,,,\n"
        "a,major_faults,1,1,3,,3,3,3,0,,,\n"
        "a,cycles,1,0,,,,,,,,,\n");
}

TEST_CASE("numbers keep all their digits") {
  Results results;
  results.metrics = {metric("wall_time", Unit::Seconds)};
  results.commands = {
      command("a", 3, {row(0, summary(3, 1.0 / 3.0, 1e-9, 0.30000000000000004, 123456789.25))})};
  const std::string csv = summary_csv(results);
  CHECK(csv.find("a,wall_time,s,3,0.3333333333333333,1e-09,") != std::string::npos);
  CHECK(csv.find(",0.30000000000000004,123456789.25,0,,,\n") != std::string::npos);
}

TEST_CASE("a name with commas, quotes or line breaks stands in quotes") {
  Results results;
  results.metrics = {metric("wall_time", Unit::Seconds)};
  const auto rows = std::vector{row(0, summary(1, 1, std::nullopt, 1, 1))};
  results.commands = {command("a,b", 1, rows), command("say \"hi\"", 1, rows),
                      command("two\nlines", 1, rows), command("größe ⚡", 1, rows)};
  CHECK(summary_csv(results) ==
        "command,metric,unit,runs,mean,stddev,median,min,max,outliers,"
        "delta_percent,delta_low_percent,delta_high_percent\n"
        "\"a,b\",wall_time,s,1,1,,1,1,1,0,,,\n"
        "\"say \"\"hi\"\"\",wall_time,s,1,1,,1,1,1,0,,,\n"
        "\"two\nlines\",wall_time,s,1,1,,1,1,1,0,,,\n"
        "größe ⚡,wall_time,s,1,1,,1,1,1,0,,,\n");
}

TEST_CASE("the runs' CSV has one row for each run, in the order run") {
  Results results;
  results.metrics = {metric("wall_time", Unit::Seconds), metric("cpu_core/cycles,u/", Unit::Count),
                     metric("instructions", Unit::Count)};
  results.commands = {command("old", 2, {}), command("new, too", 1, {})};
  results.runs = {{1, 0, 0, 0, {0.25, 1000.0, std::nullopt}},
                  {0, 0, 0, 3, {0.5, 2000.0, std::nullopt}},
                  {0, 1, 1, 137, {0.1, std::nullopt, 12345678901.0}}};
  CHECK(runs_csv(results) ==
        "command,run,round,pass,status,wall_time,\"cpu_core/cycles,u/\",instructions\n"
        "\"new, too\",1,1,1,0,0.25,1000,\n"
        "old,2,1,1,3,0.5,2000,\n"
        "old,3,2,2,137,0.1,,12345678901\n");
}

}  // namespace lauka::report
