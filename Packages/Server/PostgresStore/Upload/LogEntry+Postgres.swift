internal import PostgresClient
internal import TomboloChangesets
internal import TomboloModel

extension LogEntry {
    /// Reads a row of ``LockPlan/changelog(after:from:)``. Nil for a class that this process doesn't know.
    init?(_ row: PostgresRow, _ layout: StoreLayout) throws {
        guard let index = layout.classIndexByID[Int16(truncatingIfNeeded: try row[0].int64)],
            let xid = UInt64(try row[6].string)
        else { return nil }
        let item = try layout.layout(index)
        let columns = try row[3].nonNull?.int64Array ?? []
        let special = try Self.marks(try row[5].nonNull?.string ?? "", item)
        var operation: Operation
        var marks: [Int: Mark] = [:]
        switch try row[2].string {
        case "c":
            operation = .create
            marks = special
        case "e": operation = .erase
        default:
            operation = .update
            for id in columns {
                guard let id, let position = item.position[Int16(truncatingIfNeeded: id)] else { continue }
                marks[position] = special[position] ?? .set
            }
            // The row went into the trash (it wasn't there before), which counts as an erase.
            if try row[4].nonNull?.string == "false" {
                operation = .erase
                marks = [:]
            }
        }
        self.init(
            reference: ObjectReference(classIndex: index, key: try layout.key(try row[1].string, of: item)),
            operation: operation, marks: marks, xid: xid, stamp: Stamp(microseconds: try row[7].int64),
            client: try row[8].nonNull.map { ClientID(rawValue: try $0.int64) })
    }

    /// Parses marks: `d3 a5=-2` means that column 3 was set by default, and 2 was subtracted from column 5.
    private static func marks(_ text: String, _ item: ClassLayout) throws -> [Int: Mark] {
        var result: [Int: Mark] = [:]
        for token in text.split(separator: " ") {
            let parts = token.dropFirst().split(separator: "=")
            guard let id = parts.first.flatMap({ Int16($0) }) else { continue }
            guard let position = item.position[id] else { continue }
            if token.first == "d" {
                result[position] = .byDefault
            } else if parts.count == 2, let amount = Int64(parts[1]) {
                result[position] = .add(amount)
            }
        }
        return result
    }
}
