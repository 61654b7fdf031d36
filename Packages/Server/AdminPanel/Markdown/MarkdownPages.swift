import HTTPTypes
import Hummingbird
import NIOCore
import TomboloHTTP
import TomboloLocalization
import TomboloMarkdown

/// Formatted Markdown, for the preview of forms.
struct MarkdownPages: PanelSection {
    static let path = "\(AdminPanel.path)/markdown"
    static let field = "text"
    /// The maximum size of the form: browsers encode most characters that aren't letters as three bytes.
    private static let bodyBytes = 3 * MarkdownHTML.maximumByteCount + (16 << 10)

    func add(to panel: PanelRoutes) {
        panel.action(Self.path, access: .own(localized("panel")), bodyBytes: Self.bodyBytes) { request, _ in
            guard let text = request.form[Self.field] else {
                throw RequestFailure(.badRequest, "The form has no text.", hint: "Send it as '\(Self.field)'.")
            }
            // The preview is below the title of the form's page.
            guard let html = PanelHTML(markdown: text, firstHeading: 2) else {
                throw RequestFailure(
                    .tooLarge, "Texts of more than \(MarkdownHTML.maximumByteCount >> 10) KiB are shown unformatted.",
                    hint: "Shorten the text to see it formatted.")
            }
            return .response(
                Response(
                    status: .ok,
                    headers: [
                        .contentType: "text/html; charset=utf-8", .xContentTypeOptions: "nosniff",
                        .cacheControl: "no-store",
                        .contentSecurityPolicy: "default-src 'none'; sandbox; frame-ancestors 'none'",
                    ],
                    body: ResponseBody(byteBuffer: ByteBuffer(string: html.text))))
        }
    }
}
