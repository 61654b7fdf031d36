import HTTPTypes
import ServiceTestSupport
import TomboloHTTP
import TomboloModel
import TomboloRules

/// Checks which of the panel's routes let a browser in. It uses an id that doesn't exist and empty forms, so nothing changes.
struct PanelRouteCall {
    struct Found {
        let status: Int
        let isRefusal: Bool

        init(_ answer: Answer) {
            status = answer.status
            let isSentToLogIn = answer.headers[.location]?.hasPrefix("/panel/login") == true
            isRefusal = [401, 403].contains(answer.status) || isSentToLogIn
        }
    }

    private let browser: PanelBrowser
    private let token: String

    init(_ browser: PanelBrowser, isLoggedIn: Bool = true) async throws {
        self.browser = browser
        token = isLoggedIn ? try await browser.formToken() : "none"
    }

    /// Leaves out streams, which don't end by themselves; the log-out, which would end the session for the other routes; and the
    /// log-in code, because a missing one is refused like a wrong password.
    static func isAsked(_ route: RouteDescription) -> Bool {
        route.path.hasPrefix("/panel") && !route.isOpen && ["GET", "POST"].contains(route.method)
            && !route.path.hasPrefix("/panel/events/")
            && !["/panel/logout", "/panel/second-factor/confirm"].contains(route.path)
    }

    /// The collection names of all classes with objects of their own.
    static func collections(_ fixture: ServiceFixture) -> [String] {
        fixture.rules.schema.classes.filter { $0.owner == nil && $0.primaryKey != nil }.map(\.collectionName)
    }

    func callAsFunction(_ route: RouteDescription, _ collection: String) async throws -> Found {
        let path = route.path.replacing("{collection}", with: collection)
            .replacing(/{\w+}/, with: ObjectId.generate().stringValue)
        guard route.method == "POST" else { return Found(try await browser.get(path)) }
        // A route that takes a file doesn't read other forms.
        guard route.path == "/panel/import/{collection}" else {
            return Found(try await browser.send(path, [:], token: token))
        }
        let body = "--x\r\nContent-Disposition: form-data; name=\"_token\"\r\n\r\n\(token)\r\n--x--\r\n"
        return Found(
            try await browser.call(
                .post, path, body: body, headers: [.contentType: "multipart/form-data; boundary=x"]))
    }
}
