#!/bin/bash
# Prints a provider token, made as Apple's "Sending push notifications using command-line tools" makes it: spaces in the JSON, and the
# signature as openssl writes it, ASN.1 DER. Reads TEAM_ID, AUTH_KEY_ID, TOKEN_KEY_FILE_NAME and JWT_ISSUE_TIME from the environment.
set -euo pipefail
base64url() { openssl base64 -e -A | tr -- '+/' '-_' | tr -d =; }
header=$(printf '{ "alg": "ES256", "kid": "%s" }' "$AUTH_KEY_ID" | base64url)
claims=$(printf '{ "iss": "%s", "iat": %d }' "$TEAM_ID" "$JWT_ISSUE_TIME" | base64url)
signature=$(printf '%s' "$header.$claims" | openssl dgst -binary -sha256 -sign "$TOKEN_KEY_FILE_NAME" | base64url)
printf '%s' "$header.$claims.$signature"
