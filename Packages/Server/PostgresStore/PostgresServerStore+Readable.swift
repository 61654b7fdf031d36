internal import PostgresClient
public import TomboloModel
internal import TomboloSyncProtocol

extension PostgresServerStore {
    /// A row kept more recently than this isn't updated; retention works in days.
    private static let keptInterval = "interval '1 day'"

    public func keepReadable(_ readable: [Int: Predicate], under rulesFingerprint: UInt64) async throws {
        let codec = MessageCodec(schema: schema)
        let kept = readable.filter { $0.value != .constant(false) }.sorted { $0.key < $1.key }
        let predicates = kept.map { codec.encode($0.value) }
        guard predicates.reduce(0, { $0 + $1.count }) <= StoreLimits.readableByteCount else { return }
        try await pool.withConnection { connection in
            _ = try await connection.query(
                """
                INSERT INTO tombolo.readable AS r (fingerprint, class, predicate) \
                SELECT $1, class, predicate FROM unnest($2, $3) AS u (class, predicate) ORDER BY class \
                ON CONFLICT (fingerprint, class) DO UPDATE SET kept_at = clock_timestamp() \
                WHERE r.kept_at < clock_timestamp() - \(Self.keptInterval)
                """,
                [
                    .int64(Int64(bitPattern: rulesFingerprint)), .textArray([""] + kept.map { schema[$0.key].name }),
                    .byteaArray([[]] + predicates),
                ])
        }
    }

    public func readable(under rulesFingerprint: UInt64) async throws -> [Int: Predicate]? {
        let rows = try await pool.withConnection { connection in
            try await connection.query(
                "SELECT class, predicate FROM tombolo.readable WHERE fingerprint = $1",
                [.int64(Int64(bitPattern: rulesFingerprint))])
        }
        guard !rows.isEmpty else { return nil }
        let codec = MessageCodec(schema: schema)
        var readable: [Int: Predicate] = [:]
        for row in rows {
            let name = try row[0].string
            if name.isEmpty { continue }
            guard let index = schema.index(of: name), let predicate = try? codec.decodePredicate(try row[1].bytes),
                (try? predicate.check(for: name, in: schema)) != nil
            else { return nil }
            readable[index] = predicate
        }
        return readable
    }
}
