import HTTPTypes

/// A request to the admin server.
struct TrashQuestion: Sendable {
    let method: HTTPRequest.Method
    let path: String
    /// The body of a request with JSON.
    let body: String?
    let type: String
    /// The fields of a form in the panel.
    let form: [(String, String)]?
    /// Whether the answer shows the object to users who may read everything, while it is live.
    let showsLive: Bool

    init(_ path: String, showsLive: Bool = false) {
        (method, self.path, self.showsLive) = (.get, path, showsLive)
        (body, type, form) = (nil, "", nil)
    }

    init(_ method: HTTPRequest.Method, _ path: String, _ body: String? = nil, type: String = "application/json") {
        (self.method, self.path, self.body, self.type) = (method, path, body, type)
        (form, showsLive) = (nil, false)
    }

    init(sending form: [(String, String)], to path: String) {
        (method, self.path, self.form) = (.post, path, form)
        (body, type, showsLive) = (nil, "", false)
    }

    private init(
        _ method: HTTPRequest.Method, _ path: String, _ body: String?, type: String, form: [(String, String)]?,
        showsLive: Bool
    ) {
        self.method = method
        self.path = path
        self.body = body
        self.type = type
        self.form = form
        self.showsLive = showsLive
    }

    var isOfPanel: Bool { path == "/" || path.hasPrefix("/panel") }

    func map(_ change: (String) -> String) -> TrashQuestion {
        TrashQuestion(
            method, change(path), body.map(change), type: type, form: form?.map { ($0.0, change($0.1)) },
            showsLive: showsLive)
    }

    static func query(_ parameters: [(String, String)]) -> String {
        parameters.map { "\(PanelBrowser.encode($0))=\(PanelBrowser.encode($1))" }.joined(separator: "&")
    }
}

extension TrashQuestion: CustomStringConvertible {
    var description: String {
        let sent = body ?? form.map { TrashQuestion.query($0) } ?? ""
        return "\(method) \(path) \(sent)"
    }
}
