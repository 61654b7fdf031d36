import Hummingbird
import TomboloAuthentication
import TomboloHTTP
import TomboloLocalization

/// The colours of pages. The choice is stored in a cookie of one browser, so that it applies before any script runs.
enum PanelTheme: String, CaseIterable, Sendable {
    case system, light, dark

    static let path = "\(AdminPanel.path)/theme"

    private var title: String {
        switch self {
        case .system: localized("same as the system")
        case .light: localized("light")
        case .dark: localized("dark")
        }
    }

    /// The choice of a request's browser.
    static func of(_ request: Request, _ context: EdgeContext) -> PanelTheme {
        PanelCookie.theme.value(in: request, context).flatMap(PanelTheme.init) ?? .system
    }

    /// The choices, for a template.
    var choices: [[String: Any]] {
        Self.allCases.map { ["value": $0.rawValue, "title": $0.title, "isChosen": $0 == self] }
    }
}

/// The action that chooses the colours and the language.
struct ThemePages: PanelSection {
    func add(to panel: PanelRoutes) {
        panel.action(PanelTheme.path, access: .own(localized("panel"))) { request, _ in
            guard let theme = request.form["theme"].flatMap(PanelTheme.init) else {
                throw RequestFailure(.badRequest, "Unknown colour scheme.", hint: "Choose system, light or dark.")
            }
            let languages = request.core.languages.languages
            let language = request.form["language"]
            guard language.map({ tag in tag.isEmpty || languages.contains { $0.tag == tag } }) ?? true else {
                let names = languages.map(\.name).joined(separator: ", ")
                throw RequestFailure(
                    .badRequest, "The panel isn't available in this language.", hint: "Choose one of \(names).")
            }
            var response = PanelAnswer.redirection(
                to: PanelPath.checked(request.form[LoginPages.nextField]) ?? AdminPanel.path)
            let isSecure = request.context.isSecure
            response.headers[values: .setCookie].append(
                theme == .system
                    ? PanelCookie.theme.removal(isSecure: isSecure)
                    : PanelCookie.theme.header(theme.rawValue, isSecure: isSecure))
            if let language {
                response.headers[values: .setCookie].append(
                    language.isEmpty
                        ? PanelCookie.language.removal(isSecure: isSecure)
                        : PanelCookie.language.header(language, isSecure: isSecure))
            }
            return .response(response)
        }
    }
}
