/// A drawing in a database, with its points in one of the forms.
protocol DrawingStore {
    var form: PointsForm { get }
    func makeTables() async throws
    /// Inserts strokes in one transaction.
    func insert(_ strokes: [Drawing.Stroke]) async throws
    /// Reads the whole drawing: the points of each stroke, in the order of the strokes.
    func read() async throws -> [[Drawing.Point]]
    /// Moves one point of a stroke in a transaction. A column has to be read, changed and written.
    func edit(_ stroke: Drawing.Stroke, point index: Int, to point: Drawing.Point) async throws
    /// The bytes that the tables and their indexes occupy on disk.
    func byteCount() async throws -> Int64
}
