import PostgresClient
import TomboloModel

/// A drawing in PostgreSQL.
struct PostgresDrawing: DrawingStore {
    /// The number of rows in one INSERT.
    static let rowsPerInsert = 10_000

    let form: PointsForm
    /// The schema of the tables. In `public`, they have the changelog's triggers, see ``DrawingMeasurement``.
    let schema: String
    let connection: PostgresConnection

    private var strokes: String { PostgresSQL.quoteIdentifier(schema, form.strokeTable) }
    private var points: String { PostgresSQL.quoteIdentifier(schema, PointsForm.pointTable) }

    func makeTables() async throws {
        let column =
            form == .doubles ? ", points bytea NOT NULL" : form == .json ? ", points text COLLATE \"C\" NOT NULL" : ""
        try await connection.execute(
            """
            CREATE TABLE \(strokes) (_id bytea PRIMARY KEY CHECK (octet_length(_id) = 12), drawing bytea NOT NULL,
                rank text COLLATE "C" NOT NULL, color text COLLATE "C" NOT NULL, width double precision NOT NULL\(column));
            CREATE INDEX ON \(strokes) (drawing)
            """)
        guard form == .rows else { return }
        try await connection.execute(
            """
            CREATE TABLE \(points) (_id bytea PRIMARY KEY CHECK (octet_length(_id) = 12), owner bytea NOT NULL,
                rank text COLLATE "C" NOT NULL, x double precision NOT NULL, y double precision NOT NULL);
            CREATE INDEX ON \(points) (owner)
            """)
    }

    func insert(_ added: [Drawing.Stroke]) async throws {
        var parameters: [PostgresParameter] = [
            .byteaArray(added.map(\.key)), .bytea(Drawing.key), .textArray(added.map(\.rank)),
            .textArray(added.map(\.color)), .doubleArray(added.map(\.width)),
        ]
        switch form {
        case .doubles: parameters.append(.byteaArray(added.map { PointsCoding.doubles($0.points) }))
        case .json: parameters.append(.textArray(added.map { PointsCoding.json($0.points) }))
        case .rows: break
        }
        let (column, array, value) =
            switch form {
            case .doubles: (", points", ", $6::bytea[]", ", p")
            case .json: (", points", ", $6::text[]", ", p")
            case .rows: ("", "", "")
            }
        let sql = """
            INSERT INTO \(strokes) (_id, drawing, rank, color, width\(column)) SELECT i, $2, r, c, w\(value)
            FROM unnest($1::bytea[], $3::text[], $4::text[], $5::double precision[]\(array)) AS t (i, r, c, w\(value))
            """
        try await connection.transaction { connection in
            try await connection.query(sql, parameters)
            if form == .rows { try await insertPoints(added, connection) }
        }
    }

    private func insertPoints(_ added: [Drawing.Stroke], _ connection: PostgresConnection) async throws {
        var keys: [[UInt8]] = []
        var owners: [[UInt8]] = []
        var ranks: [String] = []
        var values: [Drawing.Point] = []
        for stroke in added {
            keys += stroke.points.indices.map { Drawing.pointKey(stroke: stroke.key, $0) }
            owners += stroke.points.map { _ in stroke.key }
            ranks += try FractionalRank.sequence(count: stroke.points.count, between: nil, nil)
            values += stroke.points
            if keys.count >= Self.rowsPerInsert || stroke.key == added.last?.key {
                try await connection.query(
                    """
                    INSERT INTO \(points) (_id, owner, rank, x, y) SELECT * FROM
                    unnest($1::bytea[], $2::bytea[], $3::text[], $4::double precision[], $5::double precision[])
                    """,
                    [
                        .byteaArray(keys), .byteaArray(owners), .textArray(ranks), .doubleArray(values.map(\.x)),
                        .doubleArray(values.map(\.y)),
                    ])
                (keys, owners, ranks, values) = ([], [], [], [])
            }
        }
    }

    func read() async throws -> [[Drawing.Point]] {
        guard form == .rows else {
            let rows = try await connection.query(
                "SELECT points FROM \(strokes) WHERE drawing = $1 ORDER BY rank", [.bytea(Drawing.key)])
            return try rows.map {
                form == .doubles
                    ? PointsCoding.points(doubles: try $0[0].bytes) : try PointsCoding.points(json: try $0[0].string)
            }
        }
        let rows = try await connection.query(
            """
            SELECT s._id, p.x, p.y FROM \(strokes) s JOIN \(points) p ON p.owner = s._id
            WHERE s.drawing = $1 ORDER BY s.rank, p.rank
            """, [.bytea(Drawing.key)])
        var result: [[Drawing.Point]] = []
        var current: [UInt8] = []
        for row in rows {
            let isNext = row[0].withUnsafeBytes { !$0.elementsEqual(current) }
            if isNext {
                current = try row[0].bytes
                result.append([])
            }
            result[result.count - 1].append(Drawing.Point(x: try row[1].double, y: try row[2].double))
        }
        return result
    }

    func edit(_ stroke: Drawing.Stroke, point index: Int, to point: Drawing.Point) async throws {
        guard form != .rows else {
            try await connection.query(
                "UPDATE \(points) SET x = $1, y = $2 WHERE _id = $3",
                [
                    .double(point.x), .double(point.y), .bytea(Drawing.pointKey(stroke: stroke.key, index)),
                ])
            return
        }
        try await connection.transaction { connection in
            let found = try await connection.query(
                "SELECT points FROM \(strokes) WHERE _id = $1 FOR UPDATE", [.bytea(stroke.key)])
            let parameter: PostgresParameter
            if form == .doubles {
                var points = PointsCoding.points(doubles: try found[0][0].bytes)
                points[index] = point
                parameter = .bytea(PointsCoding.doubles(points))
            } else {
                var points = try PointsCoding.points(json: try found[0][0].string)
                points[index] = point
                parameter = .text(PointsCoding.json(points))
            }
            try await connection.query(
                "UPDATE \(strokes) SET points = $1 WHERE _id = $2", [parameter, .bytea(stroke.key)])
        }
    }

    func byteCount() async throws -> Int64 {
        let tables = form == .rows ? [strokes, points] : [strokes]
        var sum: Int64 = 0
        for table in tables {
            sum += try await connection.query("SELECT pg_total_relation_size($1::text::regclass)", [.text(table)])[0][0]
                .int64
        }
        return sum
    }
}
