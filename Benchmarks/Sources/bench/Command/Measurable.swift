/// One of `bench`'s measurements. It begins with an empty database and may leave anything in it.
protocol Measurable: Sendable {
    func measure(_ database: BenchDatabase) async throws -> Measurement
}
