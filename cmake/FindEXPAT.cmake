# expat: EXPAT::EXPAT.
lauka_choose_library(EXPAT EXPAT::EXPAT REQUIRED NAME expat DEBIAN libexpat1-dev
  HEADERS expat.h=EXPAT_INCLUDE_DIR LIBRARIES expat=EXPAT_LIBRARY
  HEAD "#include <expat.h>" BODY "XML_ParserFree(XML_ParserCreate(nullptr));")
