#!/bin/sh
# Generates Generated/*.pb.swift from the .proto files. Needs protoc (Debian: protobuf-compiler) and protoc-gen-swift
# from the swift-protobuf version that the package uses:
#   swift build --product protoc-gen-swift    in a checkout of https://github.com/apple/swift-protobuf
# Usage: generate.sh [path of protoc-gen-swift]
set -eu
cd "$(dirname "$0")"
plugin=${1:-$(command -v protoc-gen-swift || true)}
if [ -z "$plugin" ]; then
    echo "protoc-gen-swift is not in PATH; build it from swift-protobuf and give its path." >&2
    exit 1
fi
protoc --plugin="protoc-gen-swift=$plugin" --swift_out=../Generated --swift_opt=Visibility=Internal \
    --swift_opt=UseAccessLevelOnImports=true -I . ./*.proto
