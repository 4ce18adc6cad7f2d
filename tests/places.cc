#include "places.h"

namespace lauka::places {

const char* const kRepository = LAUKA_SOURCE_DIR;
const char* const kProgram = LAUKA_PROGRAM;
const char* const kProgramOnModel = LAUKA_PROGRAM_ON_MODEL;
const char* const kFixtures = LAUKA_FIXTURES;
const char* const kCompiler = LAUKA_COMPILER;
const char* const kVersion = LAUKA_VERSION;

}  // namespace lauka::places
