"""Logging in over HTTP."""

import datetime
import json
import urllib.error
import urllib.request

REQUEST_SECONDS = 30
REFRESH_MARGIN_SECONDS = 60


class Refused(Exception):
    """The gateway answered with an error. `status` is the HTTP status."""

    def __init__(self, status, body):
        super().__init__(f"{status} {body.get('code')}: {body.get('message')}")
        self.status = status


def log_in(base, email, password):
    return post(base + "/login", {"provider": "local-userpass", "email": email, "password": password}, None)


def exchange(base, refresh_token):
    return post(base + "/session", None, refresh_token)


def needs_exchange(login):
    expires = datetime.datetime.fromisoformat(login["expiresAt"].replace("Z", "+00:00"))
    left = expires - datetime.datetime.now(datetime.timezone.utc)
    return left.total_seconds() < REFRESH_MARGIN_SECONDS


def post(url, body, token):
    request = urllib.request.Request(url, method="POST")
    if body is not None:
        request.add_header("Content-Type", "application/json")
        request.data = json.dumps(body).encode()
    if token is not None:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=REQUEST_SECONDS) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise Refused(error.code, json.load(error)) from error
