"""Uses the client that openapi-python-client makes from openapi.yaml.

    python generated.py URL

The generator knows no bodies of text, so this client has no batches.
"""

import sys

from client import Client
from client.api.boards import draw_board, get_board, list_solutions, replay_moves
from client.api.solving import solve
from client.models import Problem, SolveRequest, SolveResponse

BOARD = "111132323132231222312133"
PATTERN = ".......2........33...13."
client = Client(base_url=sys.argv[1])

solved = solve.sync(client=client, body=SolveRequest(board=BOARD))
assert isinstance(solved, SolveResponse), solved
assert (solved.moves, solved.length, solved.centre) == ("AC", 2, 2), solved

generous = SolveRequest(BOARD, max_depth=99, timeout_ms=60_000, heuristic=None, goal=None, explain=None)
assert solve.sync(client=client, body=generous).moves == "AC"

refused = solve.sync(client=client, body=SolveRequest(board="123"))
assert isinstance(refused, Problem), refused
assert refused.code == "invalid-board" and refused.errors[0].detail, refused

assert get_board.sync(BOARD, client=client).distance == 2
assert list_solutions.sync(BOARD, client=client, limit=1).solutions[0].moves == "AC"
replayed = replay_moves.sync("333113113112222223132321", "ACGB", client=client, goal=PATTERN)
assert replayed.reached_after == 4, replayed
assert draw_board.sync(client=client, distance=9, seed=42).distance == 9
