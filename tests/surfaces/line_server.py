"""A server that says what it is told: each line that comes is answered with the next line of a file.

`python line_server.py FILE` writes what came to FILE.heard. It imports little, since most tests of the proxy start one.
"""

import sys

if __name__ == "__main__":
    with open(sys.argv[1], "rb") as answers, open(f"{sys.argv[1]}.heard", "wb") as heard:
        for line in sys.stdin.buffer:
            heard.write(line)
            heard.flush()
            sys.stdout.buffer.write(answers.readline())
            sys.stdout.buffer.flush()
