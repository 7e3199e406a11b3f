"""Batches by clients of Python that send all before they read, and refusals while they still send.

    python batches.py URL
"""

import asyncio
import http.client
import subprocess
import sys
import time
from urllib.parse import urlsplit

import aiohttp
import httpx
import requests

URL = sys.argv[1].rstrip("/")
NETLOC = urlsplit(URL).netloc
BOARD = "111132323132231222312133"
ANSWER = b'{"moves":"AC","length":2,"centre":2}\n'
NDJSON, TEXT = "application/x-ndjson", "text/plain"
LINE, NUMBERS = f'"{BOARD}"\n'.encode(), (" ".join(BOARD) + "\n").encode()


def by_http_client(path, content_type, body):
    connection = http.client.HTTPConnection(NETLOC, timeout=60)
    connection.request("POST", path, body, {"Content-Type": content_type})
    response = connection.getresponse()
    return response.status, response.read()


def by_requests(path, content_type, body):
    response = requests.post(URL + path, data=body, headers={"Content-Type": content_type}, timeout=60)
    return response.status_code, response.content


def by_httpx(path, content_type, body, **versions):
    with httpx.Client(timeout=60, **versions) as client:
        response = client.post(URL + path, content=body, headers={"Content-Type": content_type})
        return response.status_code, response.content


def by_httpx_2(path, content_type, body):
    return by_httpx(path, content_type, body, http1=False, http2=True)


def by_aiohttp(path, content_type, body, **options):
    async def post():
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60)) as session:
            headers = {"Content-Type": content_type}
            async with session.post(URL + path, data=body, headers=headers, **options) as response:
                return response.status, await response.read()

    return asyncio.run(post())


def by_aiohttp_expect(path, content_type, body):
    return by_aiohttp(path, content_type, body, expect100=True)


def by_curl(path, content_type, body, *options):
    command = ["curl", "--silent", "--fail-with-body", "--max-time", "60", "--data-binary", "@-", "-H",
               f"Content-Type: {content_type}", *options, URL + path]
    result = subprocess.run(command, input=body, capture_output=True, check=True)
    return 200, result.stdout


def by_curl_without_expect(path, content_type, body):
    return by_curl(path, content_type, body, "-H", "Expect:")


def check(client, content_type, lines):
    body, expected = (LINE, ANSWER) if content_type == NDJSON else (NUMBERS, b"AC\n2\n")
    started = time.monotonic()
    status, answers = client("/solve/batch", content_type, body * lines)
    seconds = time.monotonic() - started
    assert status == 200, status
    assert answers == expected * lines, f"{client.__name__}: {len(answers)} bytes"
    print(f"{client.__name__:22} {content_type:21} {lines:8} boards: {seconds:5.1f} s")


def check_refused(client, path, content_type, body, expected):
    status, _ = client(path, content_type, body)
    assert status == expected, f"{client.__name__} {path}: {status}, expected {expected}"


def main():
    for content_type in (NDJSON, TEXT):
        for client in (by_http_client, by_requests, by_httpx, by_curl, by_curl_without_expect):
            check(client, content_type, 1_000_000)
    for client in (by_aiohttp, by_aiohttp_expect):
        check(client, NDJSON, 100_000)
    check(by_httpx_2, NDJSON, 500_000)
    for client in (by_http_client, by_requests, by_httpx, by_aiohttp):
        for length in (5_000, 200_000, 10_000_000):
            spaces = b" " * length
            check_refused(client, "/solve", "application/json", spaces, 413)
            check_refused(client, "/solve/batch", "application/json", spaces, 415)
            check_refused(client, "/nowhere", NDJSON, spaces, 404)
            check_refused(client, "/solve/batch", TEXT, b"1 2 3 x" + spaces, 422)
        print(f"{client.__name__:22} reads every refusal")


if __name__ == "__main__":
    main()
