import Foundation

extension OpenEventParser {
    /// Larger files are refused, since files are read into memory whole. In bytes.
    static let maximumFileByteCount = 64 << 20

    /// The records of a list file, and the number of the list's elements that aren't records. A missing file has no
    /// records, and is noted.
    mutating func records(_ file: String) -> (records: [OpenEventRecord], strayCount: Int) {
        guard FileManager.default.fileExists(atPath: folder.appendingPathComponent(file).path) else {
            notes.append(
                OpenEventNote(file: file, record: nil, message: "the file doesn't exist; nothing was imported from it"))
            return ([], 0)
        }
        guard let value = load(file) else { return ([], 0) }
        guard case .array(let elements) = value else {
            problems.append(
                OpenEventProblem(
                    file: file, record: nil, id: nil, field: nil, expected: "a list of objects", found: value.summary))
            return ([], 0)
        }
        var result: [OpenEventRecord] = []
        for (position, element) in elements.enumerated() {
            if case .object(let members) = element {
                result.append(OpenEventRecord(file: file, number: position + 1, members))
            } else {
                problems.append(
                    OpenEventProblem(
                        file: file, record: position + 1, id: nil, field: nil, expected: "an object",
                        found: element.summary, extent: .record))
            }
        }
        return (result, elements.count - result.count)
    }

    mutating func load(_ file: String) -> JSONValue? {
        func fail(_ expected: String, _ found: String) {
            problems.append(
                OpenEventProblem(file: file, record: nil, id: nil, field: nil, expected: expected, found: found))
        }
        let url = folder.appendingPathComponent(file)
        let size = (try? FileManager.default.attributesOfItem(atPath: url.path)[.size]) as? Int ?? 0
        guard size <= Self.maximumFileByteCount else {
            fail("at most \(Self.maximumFileByteCount) bytes", "\(size) bytes")
            return nil
        }
        guard let data = FileManager.default.contents(atPath: url.path) else {
            let isThere = FileManager.default.fileExists(atPath: url.path)
            fail("a readable file in \(folder.path)", isThere ? "a file that can't be read" : "no such file")
            return nil
        }
        do {
            return try JSONDecoder().decode(JSONValue.self, from: data)
        } catch DecodingError.dataCorrupted(let context) {
            let cause = (context.underlyingError as NSError?)?.userInfo["NSDebugDescription"] as? String
            fail("JSON", "invalid JSON: \((cause ?? context.debugDescription).trimmingCharacters(in: ["."]))")
        } catch {
            fail("JSON", "invalid JSON: \(error)")
        }
        return nil
    }
}
