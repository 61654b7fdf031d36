#!/usr/bin/env bash
# Tests the Python client of docs/protocol.md against the built gateway, with a temporary PostgreSQL. Ends with the
# counts. Arguments are names of scenarios; the default is all. Run `swift build` first.
# shellcheck source-path=SCRIPTDIR/../../infra/dev source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../infra/dev/lib.sh"

for product in migration-tool sync-gateway; do require_product "$product" >/dev/null; done
# No __pycache__ in the clone.
export PYTHONDONTWRITEBYTECODE=1
exec "$DEV_SCRIPTS/with-cluster.sh" python3 "$TOMBOLO_ROOT/Tests/ProtocolClient/scenarios.py" "$(products_folder)" "$@"
