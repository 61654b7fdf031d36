import Foundation

/// A folder that is deleted along with its test.
final class TemporaryFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "susi-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func write(_ text: String, to name: String) throws -> String { try write(Data(text.utf8), to: name) }

    func write(_ data: Data, to name: String) throws -> String {
        let file = url.appending(path: name)
        try data.write(to: file)
        return file.path
    }

    /// The bytes of all files in the folder and its subfolders.
    func bytes() throws -> Data {
        var all = Data()
        for case let name as String in FileManager.default.enumerator(atPath: url.path) ?? .init() {
            all += (try? Data(contentsOf: url.appending(path: name))) ?? Data()
        }
        return all
    }
}
