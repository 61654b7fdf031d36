/// A drawing in a database, its points in one of the forms.
protocol DrawingStore {
    var form: PointsForm { get }
    func makeTables() async throws
    /// Strokes in one transaction.
    func insert(_ strokes: [Drawing.Stroke]) async throws
    /// The whole drawing: points of the strokes in their order.
    func read() async throws -> [[Drawing.Point]]
    /// Moves one point of a stroke in a transaction. A column is read, changed and written.
    func edit(_ stroke: Drawing.Stroke, point index: Int, to point: Drawing.Point) async throws
    /// Bytes that the tables and their indexes take on the disk.
    func byteCount() async throws -> Int64
}
