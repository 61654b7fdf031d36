import Foundation

/// A file in which one process passes pairs of Int64 to another: a commit's number, and a time in nanoseconds.
enum PairFile {
    static func read(_ path: String) throws -> [(commit: Int, nanoseconds: Int64)] {
        let data = try Data(contentsOf: URL(filePath: path))
        return data.withUnsafeBytes { bytes in
            let numbers = bytes.bindMemory(to: Int64.self)
            return stride(from: 0, to: numbers.count - 1, by: 2).map { (Int(numbers[$0]), numbers[$0 + 1]) }
        }
    }

    static func write(_ numbers: [Int64], to path: String) throws {
        try numbers.withUnsafeBytes { Data($0) }.write(to: URL(filePath: path))
    }
}
