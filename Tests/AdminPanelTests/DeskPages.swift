import AdminPanel
import Synchronization
import TomboloHTTP
import TomboloRules

/// An app's pages about a front desk, using only what is public to apps. They're for users who may change orders.
struct DeskPages: PanelSection {
    /// What their forms have done.
    final class Book: Sendable {
        private let lines = Mutex<[String]>([])

        var all: [String] { lines.withLock { $0 } }

        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    static let path = "/panel/desk"
    let book = Book()
    private let template = PanelTemplate(
        """
        <p id="word">{{word}}</p><p>{{{word}}}</p>
        <ul>{{#sessions}}<li>{{.}}</li>{{/sessions}}</ul>
        <form method="post" action="/panel/desk">{{> form-token}}
        <label for="note">Note</label> <input id="note" name="note"> <button type="submit">Note it</button></form>
        """)

    func add(to panel: PanelRoutes) {
        let (book, template) = (book, template)
        let access = RouteAccess.objects(.update, of: "Order", by: panel.rules)
        panel.page(Self.path, entry: PanelEntry("Front desk"), access: access) { request, _ in
            let sessions = try await request.objects(of: "Session", ["sort": "title"])
            return request.page(
                "Front desk", template,
                ["word": request.query("word") ?? "", "sessions": sessions.map { $0.text("title") }])
        }
        panel.action(Self.path, access: access) { request, _ in
            book.add(request.form["note"] ?? "")
            return .redirect(to: Self.path, notice: PanelNotice("Noted: \(request.form["note"] ?? "")"))
        }
        panel.action("\(Self.path)/close", access: access, demands: .recentPassword) { request, _ in
            book.add("closed by \(request.userID)")
            return .redirect(to: Self.path, notice: PanelNotice("The desk is closed."))
        }
        panel.page("\(Self.path)/lost", access: access) { _, _ in
            throw RequestFailure(.notFound, "There is no <key> here.", hint: "Ask at the other desk.")
        }
        panel.page("\(Self.path)/changes/{id}", access: access) { request, _ in
            try await request.update("Ticket", id: request.parameter("id"), ["name": "Changed"])
            return .redirect(to: Self.path)
        }
    }
}
