import Foundation
import PostgresClient
import TomboloModel
import TomboloPostgresStore

/// The points of strokes stored in one column or as rows, on both databases, and the cost of capturing changes on
/// PostgreSQL.
struct DrawingMeasurement: Measurable {
    let sizes: Sizes.Drawing

    func measure(_ database: BenchDatabase) async throws -> Measurement {
        let drawing = try Drawing(strokeCount: sizes.strokeCount, pointCount: sizes.pointCount)
        var result = Measurement(
            MeasurementName.drawing.rawValue,
            conditions: "\(sizes.strokeCount) strokes of \(sizes.pointCount) points; a step is one transaction")
        for form in PointsForm.allCases {
            result.figures += try await sqlite(form, drawing)
        }
        for form in PointsForm.allCases {
            result.figures += try await postgres(form, drawing, database)
        }
        for form in PointsForm.allCases {
            result.figures += try await captured(form, drawing, database)
        }
        return result
    }

    private func sqlite(_ form: PointsForm, _ drawing: Drawing) async throws -> [Figure] {
        try await TemporaryFolder.with { folder in
            var times = Times()
            for run in 0..<sizes.runCount {
                let store = try SQLiteDrawing(form: form, path: folder.path("\(run).sqlite"))
                try await self.run(store, drawing, isLast: run == sizes.runCount - 1, &times)
            }
            return times.figures("SQLite, \(form.rawValue)")
        }
    }

    private func postgres(_ form: PointsForm, _ drawing: Drawing, _ database: BenchDatabase) async throws -> [Figure] {
        var times = Times()
        for run in 0..<sizes.runCount {
            try await database.reset()
            try await database.pool.withConnection { connection in
                let store = PostgresDrawing(form: form, schema: "public", connection: connection)
                try await self.run(store, drawing, isLast: run == sizes.runCount - 1, &times) {
                    try await database.writeAheadPosition()
                }
            }
        }
        return times.figures("PostgreSQL, \(form.rawValue)")
    }

    /// With the triggers that keep the changelog, on tables generated from model classes.
    private func captured(_ form: PointsForm, _ drawing: Drawing, _ database: BenchDatabase) async throws -> [Figure] {
        let schema = try Schema.of([DoublesStroke.self, JsonStroke.self, RowsStroke.self, RowsPoint.self])
        var inserts: [Double] = []
        var appends: [Double] = []
        var edits: [Double] = []
        var logBytes: [Double] = []
        for run in 0..<sizes.runCount {
            try await database.reset()
            try await database.pool.withConnection { connection in
                try await PostgresSchema.install(schema, on: connection)
                let store = PostgresDrawing(form: form, schema: "public", connection: connection)
                let before = try await Self.logByteCount(connection)
                inserts.append(try await Monotonic.seconds { try await store.insert(drawing.strokes) } * 1e3)
                logBytes.append(Double(try await Self.logByteCount(connection) - before) / 1e6)
                guard run == sizes.runCount - 1 else { return }
                for stroke in try drawing.later(sizes.editCount) {
                    appends.append(try await Monotonic.seconds { try await store.insert([stroke]) } * 1e3)
                }
                for (stroke, index, point) in Self.edits(drawing, sizes.editCount) {
                    edits.append(
                        try await Monotonic.seconds { try await store.edit(stroke, point: index, to: point) } * 1e3)
                }
            }
        }
        let name = "PostgreSQL with changelog, \(form.rawValue)"
        return [
            Figure("\(name): insert all", "ms", runs: inserts),
            Figure("\(name): changelog of it", "MB", runs: logBytes),
            Figure("\(name): append a stroke", "ms", samples: appends),
            Figure("\(name): edit a point", "ms", samples: edits),
        ]
    }

    private static func logByteCount(_ connection: PostgresConnection) async throws -> Int64 {
        try await connection.query(
            """
            SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
            JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'tombolo' AND c.relkind = 'r'
            """)[0][0].int64
    }

    private struct Times {
        var inserts: [Double] = []
        var reads: [Double] = []
        var appends: [Double] = []
        var edits: [Double] = []
        var bytes: [Double] = []
        var appendLog: Int64?
        var editLog: Int64?
        var editCount = 0

        func figures(_ name: String) -> [Figure] {
            var result = [
                Figure("\(name): insert all", "ms", runs: inserts), Figure("\(name): on disk", "MB", runs: bytes),
                Figure("\(name): read all", "ms", runs: reads),
                Figure("\(name): append a stroke", "ms", samples: appends),
                Figure("\(name): edit a point", "ms", samples: edits),
            ]
            if let appendLog, let editLog, editCount > 0 {
                let kilobytes = 1_000 * Double(editCount)
                result.append(Figure("\(name): write-ahead log of an append", "kB", Double(appendLog) / kilobytes))
                result.append(Figure("\(name): write-ahead log of an edit", "kB", Double(editLog) / kilobytes))
            }
            return result
        }
    }

    private func run(
        _ store: any DrawingStore, _ drawing: Drawing, isLast: Bool, _ times: inout Times,
        logPosition: () async throws -> Int64? = { nil }
    ) async throws {
        try await store.makeTables()
        times.inserts.append(try await Monotonic.seconds { try await store.insert(drawing.strokes) } * 1e3)
        times.bytes.append(Double(try await store.byteCount()) / 1e6)
        var found: [[Drawing.Point]] = []
        times.reads.append(try await Monotonic.seconds { found = try await store.read() } * 1e3)
        guard found == drawing.strokes.map(\.points) else {
            throw BenchError("The drawing (\(store.form.rawValue)) wasn't read back as it was written.")
        }
        guard isLast else { return }
        times.editCount = sizes.editCount
        let start = try await logPosition()
        for stroke in try drawing.later(sizes.editCount) {
            times.appends.append(try await Monotonic.seconds { try await store.insert([stroke]) } * 1e3)
        }
        let middle = try await logPosition()
        for (stroke, index, point) in Self.edits(drawing, sizes.editCount) {
            times.edits.append(
                try await Monotonic.seconds { try await store.edit(stroke, point: index, to: point) } * 1e3)
        }
        let end = try await logPosition()
        if let start, let middle, let end { (times.appendLog, times.editLog) = (middle - start, end - middle) }
    }

    /// Edits of points throughout the drawing.
    private static func edits(_ drawing: Drawing, _ count: Int) -> [(Drawing.Stroke, Int, Drawing.Point)] {
        var random = SplitMix(state: 13)
        return (0..<count).compactMap { _ in
            guard let stroke = drawing.strokes.randomElement(using: &random),
                let index = stroke.points.indices.randomElement(using: &random)
            else { return nil }
            return (stroke, index, Drawing.Point(x: stroke.points[index].x + 1, y: stroke.points[index].y - 1))
        }
    }
}
