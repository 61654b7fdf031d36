import Foundation

/// An answer stored in a file.
enum AnswerFile {
    /// - Throws: ``SusiError`` if the file can't be read or is too large.
    static func read(_ path: String) throws -> Data {
        let data: Data?
        do {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? file.close() }
            data = try file.read(upToCount: SusiServer.maximumAnswerByteCount + 1)
        } catch {
            throw SusiError("Can't read '\(path)': \(error.localizedDescription)")
        }
        guard let data, !data.isEmpty else { throw SusiError("'\(path)' is empty.") }
        guard data.count <= SusiServer.maximumAnswerByteCount else {
            throw SusiError("'\(path)' has more than \(SusiServer.maximumAnswerByteCount) bytes.")
        }
        return data
    }
}
