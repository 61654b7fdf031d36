import AdminService
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel
import TomboloRules

/// The frame around the content of every page: head, navigation, the logged-in user, notices.
struct PanelLayout: Sendable {
    /// Allows only the panel's own scripts and styles, forms to this server, and images from this server or the tile
    /// server of maps; no frames.
    private var contentSecurityPolicy: String {
        let images = ["'self'", core.tiles?.origin].compactMap(\.self).joined(separator: " ")
        return "default-src 'none'; script-src 'self'; style-src 'self'; img-src \(images); connect-src 'self'; "
            + "manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    }

    private static let template = PanelTemplate(PackageResources.layout_mustache)

    let core: PanelCore

    /// A page for a logged-in user.
    func response(_ page: PanelPage, to request: PanelRequest) throws -> Response {
        var values = frame(page)
        let session = request.visit.session
        let path = request.request.uri.path
        values["user"] = session.displayName.isEmpty ? session.email : session.displayName
        values["email"] = session.email
        let theme = PanelTheme.of(request.request, request.context)
        if theme != .system { values["theme"] = theme.rawValue }
        values["themes"] = theme.choices
        values["languages"] = core.languages.choices(
            chosen: PanelLanguages.chosen(request.request, request.context))
        values["themePath"] = PanelTheme.path
        // The result of a form can't be requested again.
        values["here"] = request.request.method == .get ? request.address : AdminPanel.path
        if let viewing = request.visit.viewing {
            values["viewing"] = ["name": viewing.title, "path": ViewAsPages.endPath]
        }
        values["formToken"] = request.visit.token.formToken
        values["groups"] = try navigation(request, current: path)
        if let watches = page.watches { values["watches"] = watches }
        if let seconds = page.refreshSeconds { values["refresh"] = seconds }
        let sealed = PanelCookie.notice.value(in: request.request, request.context)
        if let sealed, let text = request.visit.token.opened(sealed),
            let notice = try? JSONDecoder().decode(PanelNotice.self, from: Data(text.utf8))
        {
            values["notice"] = Self.values(of: notice)
        }
        var response = self.response(Self.template.render(values), status: page.status)
        if sealed != nil {
            response.headers[values: .setCookie].append(
                PanelCookie.notice.removal(isSecure: request.context.isSecure))
        }
        return response
    }

    /// A page for somebody who isn't logged in.
    func response(_ page: PanelPage) -> Response {
        response(Self.template.render(frame(page)), status: page.status)
    }

    private func frame(_ page: PanelPage) -> [String: Any] {
        let language = MessageCatalogue.current?.language ?? .english
        return [
            "language": language.tag, "isRightToLeft": language.isRightToLeft,
            "words": core.languages.scriptWords(in: language),
            "title": page.title, "contentHTML": page.content,
            "crumbs": page.crumbs.map { ["title": $0.title, "path": $0.path] },
            "hasCrumbs": !page.crumbs.isEmpty, "style": core.assets.path(of: .style),
            "script": core.assets.path(of: .script), "icon": core.assets.path(of: .icon),
        ]
    }

    private static func values(of notice: PanelNotice) -> [String: Any] {
        var values: [String: Any] = ["text": notice.text]
        if let undo = notice.undo {
            values["undo"] =
                [
                    "label": undo.label, "path": undo.path,
                    "fields": undo.fields.sorted { $0.key < $1.key }.map { ["name": $0.key, "value": $0.value] },
                ] as [String: Any]
        }
        return values
    }

    /// The entries that the caller may use, and the classes that they may read at least partly.
    private func navigation(_ request: PanelRequest, current: String) throws -> [[String: Any]] {
        func item(_ title: String, _ path: String) -> [String: Any] {
            // `/panel` is a prefix of all pages.
            let isCurrent = current == path || (path != AdminPanel.path && current.hasPrefix("\(path)/"))
            return ["title": title, "path": path, "isCurrent": isCurrent]
        }
        let entries = core.entries(for: request.subject)
        var groups: [[String: Any]] = []
        for group in PanelEntry.Group.allCases {
            let items = entries.filter { $0.entry.group == group }.map { item($0.entry.localizedTitle, $0.path) }
            if !items.isEmpty { groups.append(["name": group.title, "items": items]) }
            guard group == .start else { continue }
            let classes = try ClassPages.readable(request.view(under: core.rules.current))
            let data = classes.map { item(ClassTitle.plural(of: $0), ClassPages.path(of: $0)) }
            if !data.isEmpty { groups.append(["name": localized("Data"), "items": data]) }
        }
        return groups
    }

    private func response(_ html: PanelHTML, status: HTTPResponse.Status) -> Response {
        Response(
            status: status,
            headers: [
                .contentType: "text/html; charset=utf-8", .contentSecurityPolicy: contentSecurityPolicy,
                .referrerPolicy: "same-origin", .cacheControl: "no-store", .frameOptions: "DENY",
                .crossOriginOpenerPolicy: "same-origin",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: html.text)))
    }
}
