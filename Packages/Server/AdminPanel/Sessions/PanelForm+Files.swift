import Hummingbird
import NIOCore
import TomboloHTTP
import TomboloLocalization

extension PanelForm {
    /// Reads a form with files (RFC 7578) into memory.
    mutating func read(_ body: RequestBody, _ decoder: MultipartDecoder, limit: Int) async throws {
        var (decoder, total, textBytes) = (decoder, 0, 0)
        var part: (name: String, fileName: String?, bytes: [UInt8])?
        for try await buffer in body {
            total += buffer.readableBytes
            guard total <= limit else {
                throw RequestFailure(.tooLarge, "The form is longer than \(limit) bytes.", hint: "Send less at once.")
            }
            for event in try decoder.feed(buffer.readableBytesView) {
                switch event {
                case .part(let name, let fileName): part = (name, fileName, [])
                case .content(let bytes):
                    part?.bytes += bytes
                    if part?.fileName == nil { textBytes += bytes.count }
                    guard textBytes <= Self.maximumTextByteCount else {
                        throw RequestFailure(
                            .tooLarge, "The form has more than \(Self.maximumTextByteCount) bytes of text.",
                            hint: "Go back and shorten a text: a form sends both its original and its new version.")
                    }
                    guard part?.bytes.count ?? 0 <= Self.maximumFileByteCount else {
                        throw RequestFailure(
                            .tooLarge, "The file has more than \(Self.maximumFileByteCount >> 20) MiB.",
                            hint: "Go back, and choose a smaller one.")
                    }
                case .end:
                    if let part { try add(part.name, part.fileName, part.bytes) }
                    part = nil
                }
            }
        }
        try decoder.finish()
    }

    private mutating func add(_ name: String, _ fileName: String?, _ bytes: [UInt8]) throws {
        if let fileName {
            add(File(name: name, fileName: fileName, bytes: bytes))
            return
        }
        guard let value = String(validating: bytes, as: UTF8.self), !bytes.contains(0), !name.utf8.contains(0) else {
            throw RequestFailure(.badRequest, "The form has a field that isn't text.")
        }
        add(Field(name: name, value: value))
    }

    /// The file in a field; nil if none was chosen.
    func file(_ name: String) -> File? { files.first { $0.name == name && !$0.fileName.isEmpty } }
}
