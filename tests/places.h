#pragma once

// Where the tests find what they look at. A file of its own: were these settings of the compiler,
// no test's object could be shared between two checkouts of the project.

namespace lauka::places {

extern const char* const kRepository;
extern const char* const kProgram;         ///< the built lauka
extern const char* const kProgramOnModel;  ///< the same on a model of macOS
extern const char* const kFixtures;        ///< the folder of the built bench_fixtures
extern const char* const kCompiler;        ///< of C++, with which all this is built
extern const char* const kVersion;         ///< of the project

}  // namespace lauka::places
