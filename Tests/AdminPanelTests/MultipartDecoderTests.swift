@testable import AdminPanel
import Testing
import TomboloHTTP

@Suite("A form with files is parsed the same however it's split")
struct MultipartDecoderTests {
    private static func events(_ text: String, piece: Int, type: String = "multipart/form-data; boundary=xy") throws
        -> [MultipartDecoder.Event]
    {
        var decoder = try #require(MultipartDecoder(contentType: type))
        let bytes = Array(text.utf8)
        var events: [MultipartDecoder.Event] = []
        for start in stride(from: 0, to: bytes.count, by: piece) {
            for event in try decoder.feed(bytes[start..<min(start + piece, bytes.count)]) {
                if case .content(let more) = event, case .content(let before)? = events.last {
                    events[events.count - 1] = .content(before + more)
                } else {
                    events.append(event)
                }
            }
        }
        try decoder.finish()
        return events
    }

    @Test("parses parts, files, empty ones, and content that looks like a boundary")
    func parts() throws {
        let text =
            "--xy\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none\r\n--xz\r\n-\r\n--x\r\n--xy\r\n"
            + "content-disposition: form-data; name=\"b\"; filename=\"%22ü.csv\"\r\nContent-Type: text/csv\r\n\r\n\r\n--xy--\r\nepilogue"
        for piece in [1, 2, 3, 7, 1_000] {
            #expect(
                try Self.events(text, piece: piece) == [
                    .part(name: "a", fileName: nil), .content(Array("one\r\n--xz\r\n-\r\n--x".utf8)), .end,
                    .part(name: "b", fileName: "\"ü.csv"), .end,
                ], "\(piece)")
        }
    }

    @Test(
        "anything but a valid form is refused",
        arguments: [
            "", "x", "--xy", "--xy\r\n", "--xy-", "preamble\r\n--xy--", "--xyz", "--xy\r\n\r\n\r\n--xy--",
            "--xy\r\nContent-Disposition: form-data\r\n\r\n\r\n--xy--", "--xy\r\nContent-Type: a\r\n\r\n\r\n--xy--",
            "--xy\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nabc",
            "--xy\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nabc\r\n--xy",
            "--xy\r\nContent-Disposition: form-data; name=\"a\r\n\r\nabc\r\n--xy--",
            "--xy\r\n" + String(repeating: "x", count: 5_000),
            String(repeating: "--xy\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n", count: 30) + "--xy--",
        ])
    func broken(_ text: String) {
        for piece in [1, 1_000] {
            #expect(throws: RequestFailure.self) { try Self.events(text, piece: piece) }
        }
    }

    @Test(
        "other types and invalid boundaries aren't read",
        arguments: [
            "", "text/csv", "multipart/form-data", "multipart/form-data; boundary=", "multipart/mixed; boundary=x",
            "multipart/form-data; boundary=\"\"", "multipart/form-data; boundary=\(String(repeating: "x", count: 71))",
            "multipart/form-data; boundary=\"a\r\nb\"", "multipart/form-data-x; boundary=x",
        ])
    func types(_ type: String) { #expect(MultipartDecoder(contentType: type) == nil) }

    @Test("random bytes never crash, and give the same result however they're split")
    func fuzz() {
        let pieces = [
            "--xy", "\r\n", "--", "Content-Disposition: form-data; name=\"a\"", "\r", "\n", "x", "\r\n\r\n", "ü",
        ]
        for _ in 0..<1_000 {
            let text = (0..<Int.random(in: 0...12)).map { _ in pieces.randomElement() ?? "" }.joined()
            let whole = try? Self.events(text, piece: 1_000)
            #expect((try? Self.events(text, piece: 1)) == whole, "\(text.debugDescription)")
        }
    }
}
