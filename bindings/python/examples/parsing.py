"""Measures parsing, and not the making of what is parsed:

    lauka --region -- 'python3 parsing.py json' 'python3 parsing.py literal'
"""

import ast
import json
import sys
from typing import Any, Callable

import lauka

PARSERS: dict[str, Callable[[str], Any]] = {"json": json.loads, "literal": ast.literal_eval}

parse = PARSERS[sys.argv[1]]
text = json.dumps([{"name": str(i), "values": [i, i / 2]} for i in range(1000)])
with lauka.region():
    parsed = parse(text)
print(len(parsed))
