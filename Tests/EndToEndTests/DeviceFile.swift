import Foundation
import GRDB
import TomboloModel

/// A device's file, read from outside while the device has it open.
struct DeviceFile {
    private let queue: DatabaseQueue
    private let file: URL

    init(_ file: URL) throws {
        self.file = file
        var configuration = GRDB.Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(60)
        queue = try DatabaseQueue(path: file.path(), configuration: configuration)
    }

    func texts(_ query: String) throws -> [String] { try queue.read { try String.fetchAll($0, sql: query) } }

    func integer(_ query: String) throws -> Int64 { try queue.read { try Int64.fetchOne($0, sql: query) } ?? 0 }

    func has(_ table: String, _ id: ObjectId) throws -> Bool {
        try integer(#"SELECT count(*) FROM "\#(table)" WHERE _id = x'\#(id.stringValue)'"#) == 1
    }

    /// Everything on disk under the device's name: the database, its log, its index.
    static func bytes(_ file: URL) throws -> Data {
        var all = Data()
        let folder = file.deletingLastPathComponent()
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path())
        where name.hasPrefix(file.lastPathComponent) {
            all += try Data(contentsOf: folder.appending(path: name))
        }
        return all
    }
}
