import PostgresClient

/// The raw limit of a first sync: `COPY … TO STDOUT` and inserts through SQLite's C API, in one process.
struct RawCopy {
    /// The SQL of a device file's tables and indexes for listings.
    let definitions: [String]

    /// - Parameter deviceFile: a synced file whose table is copied.
    init(deviceFile: String) throws {
        definitions = try SQLiteFile(path: deviceFile).texts(
            "SELECT sql FROM sqlite_schema WHERE tbl_name = 'listing' AND sql IS NOT NULL")
    }

    /// - Parameter inTurn: whether to receive all rows before inserting the first.
    /// - Returns: the number of rows.
    func run(_ connection: PostgresConnection, into path: String, inTurn: Bool) async throws -> Int {
        let file = try SQLiteFile(path: path)
        try file.useDeviceSettings()
        for definition in definitions { try file.execute(definition) }
        let insert = try file.prepare("INSERT INTO listing (_id, location, price, bedrooms) VALUES (?, ?, ?, ?)")
        var count = 0
        var isFirst = true
        func insertRows(_ chunk: [UInt8]) throws {
            try chunk.withUnsafeBytes { bytes in
                var reader = CopyReader(bytes: bytes, skipsHeader: isFirst)
                while try reader.nextRow(fieldCount: 4) {
                    try reader.field { insert.bind(blob: $0, at: 1) }
                    try reader.field { insert.bind(text: $0, at: 2) }
                    try reader.field { insert.bind(CopyReader.integer($0), at: 3) }
                    try reader.field { insert.bind(CopyReader.integer($0), at: 4) }
                    try insert.run()
                    count += 1
                }
            }
            isFirst = false
        }
        var received: [[UInt8]] = []
        try file.execute("BEGIN IMMEDIATE")
        try await connection.copyOut(
            "COPY (SELECT _id, location, price, bedrooms FROM listing) TO STDOUT (FORMAT binary)"
        ) { chunk in
            if inTurn { received.append(chunk) } else { try insertRows(chunk) }
        }
        for chunk in received { try insertRows(chunk) }
        try file.execute("COMMIT")
        return count
    }
}
