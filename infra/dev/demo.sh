#!/usr/bin/env bash
# Shows the product in a minute (`make demo`), with its own database, which is deleted afterwards. The exit code is the
# demo's: 0 if all its claims held.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Works from any folder; the path of the sample data is relative to the clone.
cd "$TOMBOLO_ROOT"
"$DEV_SCRIPTS/install.sh"
build_products
bin="$(products_folder)"
for product in admin-server conference demo demo-device migration-tool sync-gateway ticket-api; do
    require_product "$product" >/dev/null
done

TOMBOLO_JWT_SECRET="$(random_hex 32)"
export TOMBOLO_JWT_SECRET
say "Starting a throwaway PostgreSQL"
exec "$DEV_SCRIPTS/with-cluster.sh" "$bin/demo"
