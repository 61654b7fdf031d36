import AdminService
import HTTPTypes
import Hummingbird
import NIOCore
import PostgresClient
import TomboloAuthentication
import TomboloHTTP
import TomboloLocalization
import TomboloModel
import TomboloServerModel

/// A request about the documents of one app.
struct ModelChangePage: Sendable {
    private static let form = PanelTemplate(PackageResources.model_change_mustache)
    private static let plan = PanelTemplate(PackageResources.model_plan_mustache)

    private let request: PanelRequest
    private let changes: ModelChanges
    private let app: String
    private let basis: ModelBasis
    private var account: String { request.userID.stringValue }

    /// - Throws: ``RequestFailure`` for an unknown app.
    init(_ request: PanelRequest, _ changes: ModelChanges) async throws {
        self.request = request
        self.changes = changes
        let app = request.parameter("app")
        self.app = app
        guard let basis = try await request.core.pool.withConnection({ try await ModelBasis(app, $0) }) else {
            throw RequestFailure(
                .notFound, "There is no app with that name.", hint: "The page Model and rules lists the apps.")
        }
        self.basis = basis
    }

    // MARK: The form

    /// The documents in use, or the texts of a change that was tried and failed.
    func show() -> PanelPage {
        if request.query("again") != nil, let run = changes.latest, case .failed = run.phase, run.edit.app == app,
            run.edit.account == account
        {
            return show(ModelChangeForm(run.edit, over: basis))
        }
        return show(ModelChangeForm(basis))
    }

    /// Applies one of the small forms to the text.
    func edit() -> PanelPage {
        let form = sent
        guard form.problems.isEmpty else { return refuse(form, form.problems) }
        guard let kind = form.wish.kind else { return show(form) }
        do throws(ModelDocumentError) {
            let (document, notice) = try form.wish.applied(kind, to: try ModelDocument(json: form.models))
            return show(form.with(models: document.json), notice: notice)
        } catch {
            return refuse(form, error.problems.map(\.wording.localized))
        }
    }

    private var sent: ModelChangeForm {
        ModelChangeForm(request.form, over: basis, limit: changes.bounds.documentBytes)
    }

    private func refuse(_ form: ModelChangeForm, _ problems: [String]) -> PanelPage {
        show(
            form, status: .unprocessableContent,
            message: problems.count == 1 ? localized("This is wrong:") : localized("These are wrong:"),
            problems: problems)
    }

    private func show(
        _ form: ModelChangeForm, status: HTTPResponse.Status = .ok, notice: String? = nil, message: String? = nil,
        hint: String? = nil, problems: [String] = [], comparisons: [String] = []
    ) -> PanelPage {
        let document = (try? ModelDocument(json: form.models)) ?? (try? ModelDocument(json: basis.models.content))
        let content = ModelChangeContent(
            form, of: app, document, basis: basis, notice: notice, message: message, hint: hint, problems: problems,
            comparisons: comparisons)
        return page(localized("Change the model of \(app)"), Self.form.render(request.values(content)), status)
    }

    private func page(_ title: String, _ content: PanelHTML, _ status: HTTPResponse.Status) -> PanelPage {
        PanelPage(title, crumbs: [DocumentPages.crumb], content: content, status: status)
    }

    // MARK: The plan

    func plan() async throws -> PanelPage {
        let form = sent
        guard form.problems.isEmpty else { return refuse(form, form.problems) }
        guard form.basis == basis.version else { return stale(form) }
        guard form.wish.begun.isEmpty else {
            let unused = localized(
                "One of the small forms is filled in and wasn't used. Press its button, or clear it.")
            return refuse(form, [unused])
        }
        guard let edit = form.edit(of: app, over: basis, by: account) else {
            return refuse(form, [localized("There is nothing to change: this is what is already in use.")])
        }
        do {
            return plan(try await changes.plan(edit), edit)
        } catch let error as DocumentEditError {
            return refuse(form, error)
        }
    }

    private func plan(
        _ plan: DocumentPlan, _ edit: DocumentEdit, _ status: HTTPResponse.Status = .ok, problem: String? = nil,
        isUnagreed: Bool = false
    ) -> PanelPage {
        let content = ModelPlanContent(
            plan, edit, over: basis, bounds: changes.bounds, problem: problem, isUnagreed: isUnagreed)
        return page(localized("What would happen"), Self.plan.render(request.values(content)), status)
    }

    /// Somebody has stored newer documents that the texts don't include. Storing the texts unchanged would undo that.
    private func stale(_ form: ModelChangeForm) -> PanelPage {
        show(
            form, status: .conflict,
            message: localized(
                "Somebody has changed the models or the rules since you began, and your text doesn't include those "
                    + "changes."),
            hint: localized(
                "Copy what you need into your text, then continue. The text is stored exactly as it stands."),
            comparisons: basis.comparisons(since: form.basis))
    }

    private func refuse(_ form: ModelChangeForm, _ error: DocumentEditError) -> PanelPage {
        switch error {
        case .mistakes(let problems): refuse(form, problems)
        case .stale: show(form, status: .conflict, message: error.message, hint: error.hint)
        case .busy, .unsuitableUser, .unreachable, .failed:
            show(form, status: .serviceUnavailable, message: error.message, hint: error.hint)
        }
    }

    // MARK: Applying

    /// Starts the change only if the plan is still the one that the caller saw. The page of the run reports the
    /// outcome.
    func apply() async throws -> PanelAnswer {
        let form = sent
        guard form.problems.isEmpty else { return .page(refuse(form, form.problems)) }
        guard form.basis == basis.version else { return .page(stale(form)) }
        guard let edit = form.edit(of: app, over: basis, by: account) else {
            return .page(refuse(form, [localized("There is nothing to change: this is what is already in use.")]))
        }
        if let run = changes.latest, run.edit == edit, !run.phase.hasEnded {
            // The button was pressed twice.
            return .redirect(to: ModelChangePages.runPath)
        }
        let found: DocumentPlan
        do {
            found = try await changes.plan(edit)
        } catch let error as DocumentEditError {
            return .page(refuse(form, error))
        }
        guard found.fingerprint == request.form["fingerprint"] else {
            return .page(
                plan(
                    found, edit, .conflict,
                    problem: localized(
                        "The database has changed since you saw the plan. Nothing was done: this is what would happen "
                            + "now.")))
        }
        guard ModelPlanContent.losses(of: found, edit).isEmpty || request.form["agreed"] != nil else {
            return .page(plan(found, edit, .unprocessableContent, isUnagreed: true))
        }
        do throws(DocumentEditError) {
            let session = request.visit.session
            try changes.start(
                edit, by: session.displayName.isEmpty ? session.email : session.displayName,
                confirmed: found.fingerprint, now: request.now, logger: request.context.logger)
        } catch {
            return .page(plan(found, edit, .serviceUnavailable, problem: error.message))
        }
        try await changes.waitForEnd()
        return .redirect(to: ModelChangePages.runPath)
    }

    // MARK: The documents as files

    /// The model in use, or the rules for `?kind=rules`.
    func download() throws -> Response {
        let isRules = request.query("kind") == DocumentKind.rules.rawValue
        guard let document = isRules ? basis.rules : basis.models else {
            throw RequestFailure(.notFound, "The app has no rules.")
        }
        let name = isRules ? "\(app).rules.yaml" : "\(app).models.json"
        return Response(
            status: .ok,
            headers: [
                .contentType: isRules ? "application/yaml" : "application/json",
                .contentDisposition: "attachment; filename=\"\(name)\"", .cacheControl: "no-store",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: document.content)))
    }
}
