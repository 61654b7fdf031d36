/// Why a PostgreSQL cluster couldn't be started for the tests.
public struct TestClusterError: Error, CustomStringConvertible {
    public var description: String

    init(_ description: String) {
        self.description = description
    }
}
