import Foundation
import TomboloModel

/// A drawing in its own SQLite file, with the settings of device files.
final class SQLiteDrawing: DrawingStore {
    let form: PointsForm
    private let path: String
    private let file: SQLiteFile
    private var statements: [String: SQLiteRowStatement] = [:]

    init(form: PointsForm, path: String) throws {
        self.form = form
        self.path = path
        file = try SQLiteFile(path: path)
        try file.useDeviceSettings()
    }

    func makeTables() throws {
        let points = form == .doubles ? ", points BLOB NOT NULL" : form == .json ? ", points TEXT NOT NULL" : ""
        try file.execute(
            """
            CREATE TABLE \(form.strokeTable) (_id BLOB PRIMARY KEY NOT NULL, drawing BLOB NOT NULL, rank TEXT NOT NULL,
                color TEXT NOT NULL, width REAL NOT NULL\(points));
            CREATE INDEX stroke_drawing ON \(form.strokeTable) (drawing)
            """)
        guard form == .rows else { return }
        try file.execute(
            """
            CREATE TABLE \(PointsForm.pointTable) (_id BLOB PRIMARY KEY NOT NULL, owner BLOB NOT NULL,
                rank TEXT NOT NULL, x REAL NOT NULL, y REAL NOT NULL);
            CREATE INDEX point_owner ON \(PointsForm.pointTable) (owner)
            """)
    }

    func insert(_ strokes: [Drawing.Stroke]) throws {
        let places = form == .rows ? "?, ?, ?, ?, ?" : "?, ?, ?, ?, ?, ?"
        let insert = try statement("INSERT INTO \(form.strokeTable) VALUES (\(places))")
        try file.execute("BEGIN IMMEDIATE")
        for stroke in strokes {
            insert.bind(stroke.key, at: 1)
            insert.bind(Drawing.key, at: 2)
            insert.bind(stroke.rank, at: 3)
            insert.bind(stroke.color, at: 4)
            insert.bind(stroke.width, at: 5)
            switch form {
            case .doubles: insert.bind(PointsCoding.doubles(stroke.points), at: 6)
            case .json: insert.bind(PointsCoding.json(stroke.points), at: 6)
            case .rows: try insertPoints(stroke)
            }
            try insert.run()
        }
        try file.execute("COMMIT")
    }

    private func insertPoints(_ stroke: Drawing.Stroke) throws {
        let insert = try statement("INSERT INTO \(PointsForm.pointTable) VALUES (?, ?, ?, ?, ?)")
        let ranks = try FractionalRank.sequence(count: stroke.points.count, between: nil, nil)
        for (index, point) in stroke.points.enumerated() {
            insert.bind(Drawing.pointKey(stroke: stroke.key, index), at: 1)
            insert.bind(stroke.key, at: 2)
            insert.bind(ranks[index], at: 3)
            insert.bind(point.x, at: 4)
            insert.bind(point.y, at: 5)
            try insert.run()
        }
    }

    func read() throws -> [[Drawing.Point]] {
        var result: [[Drawing.Point]] = []
        guard form == .rows else {
            let select = try statement("SELECT points FROM \(form.strokeTable) WHERE drawing = ? ORDER BY rank")
            defer { select.reset() }
            select.bind(Drawing.key, at: 1)
            while try select.step() {
                result.append(
                    form == .doubles
                        ? PointsCoding.points(doubles: select.bytes(0)) : try PointsCoding.points(json: select.text(0)))
            }
            return result
        }
        let select = try statement(
            """
            SELECT s.rowid, p.x, p.y FROM \(form.strokeTable) s JOIN \(PointsForm.pointTable) p ON p.owner = s._id
            WHERE s.drawing = ? ORDER BY s.rank, p.rank
            """)
        defer { select.reset() }
        select.bind(Drawing.key, at: 1)
        var current: Int64?
        while try select.step() {
            if current != select.integer(0) {
                current = select.integer(0)
                result.append([])
            }
            result[result.count - 1].append(Drawing.Point(x: select.double(1), y: select.double(2)))
        }
        return result
    }

    func edit(_ stroke: Drawing.Stroke, point index: Int, to point: Drawing.Point) throws {
        guard form != .rows else {
            let update = try statement("UPDATE \(PointsForm.pointTable) SET x = ?, y = ? WHERE _id = ?")
            update.bind(point.x, at: 1)
            update.bind(point.y, at: 2)
            update.bind(Drawing.pointKey(stroke: stroke.key, index), at: 3)
            return try update.run()
        }
        try file.execute("BEGIN IMMEDIATE")
        let select = try statement("SELECT points FROM \(form.strokeTable) WHERE _id = ?")
        select.bind(stroke.key, at: 1)
        _ = try select.step()
        let update = try statement("UPDATE \(form.strokeTable) SET points = ? WHERE _id = ?")
        if form == .doubles {
            var points = PointsCoding.points(doubles: select.bytes(0))
            points[index] = point
            update.bind(PointsCoding.doubles(points), at: 1)
        } else {
            var points = try PointsCoding.points(json: select.text(0))
            points[index] = point
            update.bind(PointsCoding.json(points), at: 1)
        }
        select.reset()
        update.bind(stroke.key, at: 2)
        try update.run()
        try file.execute("COMMIT")
    }

    func byteCount() throws -> Int64 {
        try file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return try file.integer("PRAGMA page_count") * file.integer("PRAGMA page_size")
    }

    private func statement(_ sql: String) throws -> SQLiteRowStatement {
        if let known = statements[sql] { return known }
        let statement = try file.prepare(sql)
        statements[sql] = statement
        return statement
    }
}
