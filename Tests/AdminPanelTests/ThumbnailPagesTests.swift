import Foundation
import HTTPTypes
import Logging
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

@testable import AdminPanel
@testable import AdminService

/// Thumbnails in lists, on records and in forms.
@Suite struct ThumbnailPagesTests {
    private static let list = "/panel/data/ships?columns=name,photo,seal"

    private static func thumbnails(_ program: ThumbnailProgram? = nil) throws -> Thumbnails {
        let settings = try #require(
            try ThumbnailSettings.ofEnvironment(), "vipsthumbnail isn't on the PATH; 'make install' installs it.")
        var program = program ?? ThumbnailProgram(path: settings.program)
        program.limits.duration = .seconds(3_600)
        return Thumbnails(program, isChecked: true, wait: .seconds(3_600), logger: Logger(label: "thumbnails"))
    }

    private static func ship(_ site: StructuredFormTests.Site, _ photo: Data) async throws -> String {
        let id = try await site.fixture.ship(site.client, [:])
        try await site.fixture.pool.query("UPDATE ship SET photo = $1", [.bytea([UInt8](photo))])
        return "/panel/data/ships/\(id)"
    }

    @Test(
        "lists, records and forms show thumbnails of images too large for a list, and the file stays unchanged")
    func shown() async throws {
        try await StructuredFormTests.run(thumbnails: try Self.thumbnails()) { site in
            let image = TestImages.png(width: 300, height: 300)
            #expect(image.count > BytesBeginning.maximumImageByteCount)
            let path = try await Self.ship(site, image)
            let small = "\(path)/bytes/photo?thumbnail=small"
            let large = "\(path)/bytes/photo?thumbnail=large"
            #expect(
                try await site.browser.get(Self.list).text.contains(#"<img class="small" src="\#(small)" width="48""#))
            let record = try await site.browser.get(path).text
            #expect(record.contains(#"<img class="bytes" src="\#(large)" alt="Photo""#), "\(record)")
            #expect(record.contains(#"<a href="\#(path)/bytes/photo" download>"#))
            let form = try await site.browser.get("\(path)/edit").text
            #expect(form.contains(#"<img class="bytes" src="\#(large)" alt="Photo""#), "\(form)")
            for (address, side) in [(small, 96), (large, 300)] {
                let answer = try await site.browser.get(address)
                #expect(answer.status == 200 && answer.headers[.contentType] == "image/webp")
                #expect(answer.headers[.xContentTypeOptions] == "nosniff")
                #expect(answer.headers[.contentSecurityPolicy]?.contains("sandbox") == true)
                let size = ImageSize(try await site.browser.file(address), .webp)
                #expect(size?.width == side && size?.height == side)
            }
            let whole = try await site.browser.get("\(path)/bytes/photo")
            #expect(whole.headers[.contentType] == "image/png")
            #expect(try await site.browser.file("\(path)/bytes/photo") == image)
        }
    }

    @Test("without a thumbnail, a small image is shown as it is, and a list shows words in place of a large one")
    func fallback() async throws {
        let broken = ThumbnailProgram(path: "/bin/false")
        try await StructuredFormTests.run(thumbnails: try Self.thumbnails(broken)) { site in
            let small = TestImages.png
            let path = try await Self.ship(site, small)
            for size in ["small", "large", "nothing"] {
                #expect(try await site.browser.file("\(path)/bytes/photo?thumbnail=\(size)") == small)
            }
            let large = TestImages.png(width: 300, height: 300)
            try await site.fixture.pool.query("UPDATE ship SET photo = $1", [.bytea([UInt8](large))])
            let page = try await site.browser.get(Self.list).text
            #expect(page.contains(#"alt="Photo: \#(PanelNumber.text(large.count)) bytes""#), "\(page)")
            #expect(try await site.browser.get("\(path)/bytes/photo?thumbnail=small").status == 404)
            #expect(try await site.browser.file("\(path)/bytes/photo?thumbnail=large") == large)
        }
    }

    @Test("images too large for a thumbnail, and files that aren't images, are described in words")
    func words() async throws {
        try await StructuredFormTests.run(thumbnails: try Self.thumbnails()) { site in
            let large = TestImages.png + Data(count: Thumbnails.maximumByteCount)
            for photo in [large, Data("a text that claims to be image.png".utf8)] {
                let path = try await Self.ship(site, photo)
                let page = try await site.browser.get(Self.list).text
                #expect(!page.contains("<img") && page.contains(">\(PanelNumber.text(photo.count)) bytes<"))
                #expect(try await site.browser.file("\(path)/bytes/photo?thumbnail=large") == photo)
            }
        }
    }

    @Test("users who may not read the bytes or the object get no thumbnail, even if others have seen it")
    func hidden() async throws {
        let rules: @Sendable ([String: ObjectId]) -> String = { users in
            """
            version: 1
            Ship:
              - name: ada
                applyWhen: {"%%user.id": "\(users["ada"]?.stringValue ?? "")"}
                read: true
                write: true
              - name: everybody
                applyWhen: {}
                read: {name: Gorch}
                write: false
                fields: {photo: {read: false, write: false}}
                additional_fields: {read: true, write: false}
            Sailor:
              - {name: everybody, applyWhen: {}, read: true, write: true}
            """
        }
        try await StructuredFormTests.run(rules: rules, thumbnails: try Self.thumbnails()) { site in
            let path = try await Self.ship(site, TestImages.png)
            let guest = try await PanelBrowser.loggedIn(site.client, as: "guest")
            for size in ["small", "large"] {
                let address = "\(path)/bytes/photo?thumbnail=\(size)"
                #expect(try await site.browser.get(address).headers[.contentType] == "image/webp")
                let refused = try await guest.get(address)
                #expect(refused.status == 404 && refused.headers[.contentType] != "image/webp")
                #expect(try await PanelBrowser(site.client).get(address).status != 200)
            }
            let page = try await guest.get("/panel/data/ships").text
            #expect(!page.contains("<img") && !page.contains("/bytes/photo"))
            #expect(try await guest.get(path).status == 200)
        }
    }
}
