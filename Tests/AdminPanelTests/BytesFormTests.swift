import Foundation
import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

@testable import AdminPanel

/// Byte values in forms and on record pages.
@Suite struct BytesFormTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3, 0, 255]

    /// A form with files, encoded as a browser does.
    private static func send(
        _ site: StructuredFormTests.Site, _ path: String, _ form: [String: String], _ files: [String: String]
    ) async throws -> Answer {
        var body = ""
        for (name, value) in form.sorted(by: { $0.key < $1.key }) {
            body += "--edge\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
        }
        for (name, content) in files {
            body += "--edge\r\nContent-Disposition: form-data; name=\"\(name)\"; filename=\"a.svg\"\r\n"
            body += "Content-Type: image/svg+xml\r\n\r\n\(content)\r\n"
        }
        return try await site.browser.call(
            .post, path, body: body + "--edge--\r\n", headers: [.contentType: "multipart/form-data; boundary=edge"])
    }

    private static func bytes(_ site: StructuredFormTests.Site, _ column: String) async throws -> [UInt8]? {
        try await site.fixture.pool.query("SELECT \(column) FROM ship ORDER BY name LIMIT 1").first?[0].nonNull?
            .bytes
    }

    @Test("a file replaces the bytes, a tick removes them, and a form with neither leaves them alone")
    func replacing() async throws {
        try await StructuredFormTests.run { site in
            let id = try await site.fixture.ship(site.client, ["photo": "AAEC/w=="])
            let path = "/panel/data/ships/\(id)"
            let page = try await site.browser.get("\(path)/edit").text
            #expect(page.contains(#"enctype="multipart/form-data""#) && page.contains("4 bytes"))
            #expect(page.contains(#"name="x.photo""#) && !page.contains(#"name="x.seal""#))
            var form = PanelRecordTests.fields(page).filter { !$0.key.hasPrefix("x.") }
            form["f.photo"] = nil
            form["f.seal"] = nil
            #expect(try await Self.send(site, path, form, [:]).status == 303)
            #expect(try await site.browser.get(path).text.contains("Nothing was changed."))
            form["f.name"] = "Renamed"
            form["f.tags"] = nil
            let saved = try await Self.send(site, path, form, ["f.photo": "new\r\n--ed\r\nbytes"])
            #expect(saved.status == 303, "\(saved.text)")
            #expect(try await Self.bytes(site, "photo") == Array("new\r\n--ed\r\nbytes".utf8))
            #expect(try await Self.bytes(site, "seal") == [0, 1, 2])
            #expect(try await site.browser.get(path).text.contains("Renamed"))

            form = try await site.form("\(path)/edit").filter { !["f.photo", "f.seal"].contains($0.key) }
            form["x.photo"] = "on"
            #expect(try await Self.send(site, path, form, [:]).status == 303)
            #expect(try await Self.bytes(site, "photo") == nil)

            // Required bytes can't be removed.
            form = try await site.form("\(path)/edit").filter { !["f.photo", "f.seal"].contains($0.key) }
            form["x.seal"] = "on"
            let refused = try await Self.send(site, path, form, [:])
            #expect(refused.status == 422 && refused.text.contains(#"id="w-f-seal""#), "\(refused.text)")
            #expect(try await Self.bytes(site, "seal") == [0, 1, 2])
        }
    }

    @Test("a new object takes its bytes from a file, and a copy takes the original's")
    func making() async throws {
        try await StructuredFormTests.run { site in
            var form = try await site.form("/panel/new/ships").filter { !["f.photo", "f.seal"].contains($0.key) }
            form["f.name"] = "Fresh"
            form["f.kind"] = "tug"
            let missing = try await Self.send(site, "/panel/new/ships", form, [:])
            #expect(missing.status == 422 && missing.text.contains(#"id="w-f-seal""#), "\(missing.text)")
            let made = try await Self.send(site, "/panel/new/ships", form, ["f.seal": "", "f.photo": "x"])
            #expect(made.status == 303, "\(made.text)")
            #expect(try await Self.bytes(site, "seal") == [])
            let id = String(made.headers[.location]?.split(separator: "/").last ?? "")
            var copy = try await site.form("/panel/new/ships?copy=\(id)")
                .filter { !["f.photo", "f.seal"].contains($0.key) }
            copy["f.name"] = "Above"
            #expect(try await Self.send(site, "/panel/new/ships", copy, ["f.photo": "y"]).status == 303)
            #expect(try await Self.bytes(site, "photo") == Array("y".utf8))
            #expect(try await Self.bytes(site, "seal") == [])
        }
    }

    @Test("bytes are served as a download that can't run, and only real images are displayed")
    func serving() async throws {
        try await StructuredFormTests.run { site in
            let svg = Data("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>".utf8)
            for (bytes, type) in [
                (Data(Self.png), "image/png"), (Data([0xff, 0xd8, 0xff, 0xe0]), "image/jpeg"),
                (Data("GIF89a".utf8), "image/gif"), (Data("RIFF\u{1}\u{1}\u{1}\u{1}WEBPVP8 ".utf8), "image/webp"),
                (svg, "application/octet-stream"), (Data("<html><script>".utf8), "application/octet-stream"),
                (Data("RIFF\u{1}\u{1}\u{1}\u{1}WAVE".utf8), "application/octet-stream"),
                (Data(), "application/octet-stream"),
            ] {
                let id = try await site.fixture.ship(site.client, ["photo": .string(bytes.base64EncodedString())])
                let path = "/panel/data/ships/\(id)"
                let answer = try await site.browser.get("\(path)/bytes/photo")
                #expect(answer.status == 200 && answer.headers[.contentType] == type)
                #expect(answer.headers[.contentDisposition]?.hasPrefix("attachment; filename=\"ships-photo.") == true)
                #expect(answer.headers[.xContentTypeOptions] == "nosniff")
                #expect(answer.headers[.contentSecurityPolicy]?.contains("sandbox") == true)
                let isImage = type.hasPrefix("image/")
                #expect(answer.headers[.cacheControl] == (isImage ? "private, no-cache" : "no-store"))
                #expect((answer.headers[.eTag] != nil) == isImage)
                let page = try await site.browser.get(path).text
                #expect(page.contains("<img class=\"bytes\"") == type.hasPrefix("image/"), "\(type)")
                #expect(page.contains("\(path)/bytes/photo"))
            }
        }
    }

    @Test("nobody can download bytes that they may not see, or values that aren't bytes")
    func refusals() async throws {
        try await StructuredFormTests.run(hiding: "photo") { site in
            let id = try await site.fixture.ship(site.client, ["name": "Public"])
            try await site.fixture.pool.execute("UPDATE ship SET photo = 'secret'")
            let path = "/panel/data/ships/\(id)"
            #expect(try await site.browser.get("\(path)/bytes/seal").status == 200)
            for field in ["photo", "name", "nothing", "home", "_id", "..", "%00"] {
                let answer = try await site.browser.get("\(path)/bytes/\(field)")
                #expect(answer.status == 404 && !answer.text.contains("secret"), "\(field): \(answer.status)")
            }
            let page = try await site.browser.get("\(path)/edit").text
            #expect(!page.contains("f.photo") && page.contains("f.seal"))
            let form = PanelRecordTests.fields(page).filter { $0.key != "f.seal" }
            #expect(try await Self.send(site, path, form, ["f.photo": "mine"]).status == 303)
            #expect(try await Self.bytes(site, "photo") == Array("secret".utf8))
            try await site.fixture.pool.execute("UPDATE ship SET name = 'Hidden'")
            #expect(try await site.browser.get("\(path)/bytes/seal").status == 404)
        }
    }

    @Test("a record with long text can be saved, although the form sends it twice")
    func longTexts() async throws {
        try await StructuredFormTests.run { site in
            let name = String(repeating: "ä", count: 150_000)
            let path = "/panel/data/sailors/\(try await site.fixture.sailor(name))"
            let page = try await site.browser.get("\(path)/edit").text
            #expect(page.contains(#"enctype="multipart/form-data""#))
            var form = PanelRecordTests.fields(page)
            #expect(form["f.name"]?.utf8.count == 300_000)
            form["f.name"] = name + "!"
            #expect(try await Self.send(site, path, form, [:]).status == 303)
            let saved = try await site.fixture.pool.query("SELECT name FROM sailor")
            #expect(try saved[0, 0].string == name + "!")
            // From this form's point of view, somebody else has saved meanwhile.
            form["f.name"] = "Ann"
            let clash = try await Self.send(site, path, form, [:])
            #expect(clash.status == 412 && clash.text.contains(#"enctype="multipart/form-data""#), "\(clash.status)")
        }
    }

    @Test("hostile forms with files are refused, and a file too long for a form is reported as such")
    func hostile() async throws {
        try await StructuredFormTests.run { site in
            let id = try await site.fixture.ship(site.client, [:])
            let path = "/panel/data/ships/\(id)"
            let form = try await site.form("\(path)/edit").filter { !["f.photo", "f.seal"].contains($0.key) }
            let long = String(repeating: "x", count: PanelForm.maximumFileByteCount + 1)
            let tooLong = try await Self.send(site, path, form, ["f.photo": long])
            #expect(tooLong.status == 413 && tooLong.text.contains("5 MiB"), "\(tooLong.text)")
            var text = form
            text["f.name"] = String(repeating: "x", count: PanelForm.maximumTextByteCount)
            #expect(try await Self.send(site, path, text, [:]).status == 413)
            var foreign = form
            foreign["_token"] = "x"
            #expect(try await Self.send(site, path, foreign, ["f.photo": "x"]).status == 403)
            let type: HTTPFields = [.contentType: "multipart/form-data; boundary=edge"]
            for body in [
                "", "--edge", "--edge\r\n\r\nx\r\n--edge--", "nothing", "--edge\r\nContent-Disposition: x\r\n\r\n",
            ] {
                let answer = try await site.browser.call(.post, path, body: body, headers: type)
                #expect(answer.status == 400 || answer.status == 403, "\(body): \(answer.status)")
            }
            #expect(try await Self.bytes(site, "photo") == nil)
        }
    }
}
