import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel
import TomboloRules

/// The caller's own jobs: progress, the outcome of each row, stopping one, and undoing one. While the caller views the
/// panel as another user, these are still the caller's own jobs: nobody can see somebody else's.
struct JobPages: PanelSection {
    static let path = "\(AdminPanel.path)/jobs"
    /// How often a browser without JavaScript reloads the page of a running job, in seconds.
    private static let refreshSeconds = 3
    private static let list = PanelTemplate(PackageResources.jobs_mustache)
    private static let job = PanelTemplate(PackageResources.job_mustache)
    private static let undo = PanelTemplate(PackageResources.job_undo_mustache)
    private static var crumb: PanelPage.Crumb { PanelPage.Crumb(title: localized("Jobs"), path: path) }

    static func path(of job: JSON) -> String { "\(path)/\(job["id"]?.number ?? 0)" }

    func add(to panel: PanelRoutes) {
        panel.page(Self.path, entry: PanelEntry("Jobs", in: .work), access: .own(localized("jobs"))) { request, _ in
            .page(try await list(request))
        }
        panel.page("\(Self.path)/{id}", access: .own(localized("jobs"))) { request, _ in .page(try await page(request))
        }
        panel.action("\(Self.path)/{id}/cancel", access: .own(localized("jobs"))) { request, _ in
            try await acting(request) { jobs, id in
                let job = try await jobs.cancel(id)
                return .redirect(to: Self.path(of: job), notice: PanelNotice(JobWords.ended(job)))
            }
        }
        panel.page("\(Self.path)/{id}/undo", access: .own(localized("jobs"))) { request, _ in
            .page(try await asking(request))
        }
        panel.action("\(Self.path)/{id}/undo", access: .own(localized("jobs")), demands: .recentPasswordSometimes) {
            request, _ in
            let (job, rules) = (try await found(request), request.core.rules.current)
            if try await jobs(request).undoGivesRoles(try id(request), under: rules) {
                try await request.demandPassword()
            } else {
                try await request.demandPassword(
                    changingClassAt: job["class"]?.text.flatMap { rules.schema.index(of: $0) }, under: rules)
            }
            return try await acting(request) { jobs, id in .redirect(to: Self.path(of: try await jobs.undo(id))) }
        }
    }

    private func jobs(_ request: PanelRequest) -> OwnJobs { OwnJobs(of: request.userID, request.core.pool) }

    private static var nothing: RequestFailure {
        RequestFailure(
            .notFound, "You have no job with this number.", hint: "Jobs lists the ones you have.")
    }

    private func id(_ request: PanelRequest) throws -> Int64 {
        guard let id = Int64(request.parameter("id")) else { throw Self.nothing }
        return id
    }

    private func found(_ request: PanelRequest) async throws -> JSON {
        do {
            return try await jobs(request).job(try id(request))
        } catch let failure as RequestFailure where failure.code == .notFound {
            throw Self.nothing
        }
    }

    /// Performs an action on a job. If that is no longer possible, shows the reason on the job's page.
    private func acting(
        _ request: PanelRequest, _ body: (OwnJobs, Int64) async throws -> PanelAnswer
    ) async throws -> PanelAnswer {
        let id = try id(request)
        do {
            return try await body(jobs(request), id)
        } catch let failure as RequestFailure where failure.code == .conflict {
            return .redirect(to: "\(Self.path)/\(id)", notice: PanelNotice(failure.message))
        } catch let failure as RequestFailure where failure.code == .notFound {
            throw Self.nothing
        }
    }

    private static func number(_ request: PanelRequest, _ name: String) throws -> Int64? {
        guard let text = request.query(name) else { return nil }
        guard let number = Int64(text) else { throw RequestFailure(.badRequest, "'\(name)' isn't a number.") }
        return number
    }

    // MARK: Pages

    private func list(_ request: PanelRequest) async throws -> PanelPage {
        let before = try Self.number(request, "before")
        let found = try await jobs(request).list(before: before)
        let items = (found["jobs"]?.items ?? []).map { job -> [String: Any] in
            func count(_ name: String) -> String { PanelNumber.text(job[name]?.number ?? 0) }
            let created = job["createdAt"]?.text ?? ""
            return [
                "title": "\(job["id"]?.number ?? 0): \(JobWords.title(job))", "path": Self.path(of: job),
                "state": JobWords.state(job), "total": count("total"), "done": count("done"),
                "refused": count("refused"), "leftAlone": count("leftAlone"), "machine": created,
                "exact": "\(created.prefix(10)) \(created.dropFirst(11).prefix(5)) UTC",
            ]
        }
        var values: [String: Any] = ["jobs": items, "hasJobs": !items.isEmpty]
        if let next = found["next"]?.number { values["next"] = "\(Self.path)?before=\(next)" }
        return PanelPage(localized("Jobs"), content: Self.list.render(values))
    }

    private func page(_ request: PanelRequest) async throws -> PanelPage {
        let job = try await found(request)
        let outcome = request.query("outcome")
        let rows = try await jobs(request).rows(
            of: try id(request), outcome: outcome, after: Self.number(request, "after") ?? 0)
        let view = try request.view(under: request.core.rules.current)
        let type = ClassPages.readable(view).first { $0.item.name == job["class"]?.text }
        var titles = ChoiceTitles()
        if let type {
            let ids = (rows["rows"]?.items ?? []).compactMap { $0["id"]?.text }
            titles = ChoiceTitles(
                try await RecordReader(view: view, pool: request.core.pool).choices(of: type, among: ids))
        }
        let content = JobContent(job, rows, outcome: outcome, titles: titles, type: type)
        var page = PanelPage(
            JobWords.title(job), crumbs: [Self.crumb], content: Self.job.render(request.values(content)))
        if content.isOpen { page.refreshSeconds = Self.refreshSeconds }
        return page
    }

    private func asking(_ request: PanelRequest) async throws -> PanelPage {
        let job = try await found(request)
        guard job["canUndo"] == .bool(true) else {
            throw RequestFailure(
                .conflict, "This job can't be undone, or no longer can be.", hint: "Its page says what it did.")
        }
        let path = Self.path(of: job)
        let content = Self.undo.render([
            "formToken": request.visit.token.formToken, "action": "\(path)/undo", "cancel": path,
            "touches": JobWords.undoing(job),
        ])
        return PanelPage(
            localized("Undo this job?"), crumbs: [Self.crumb, PanelPage.Crumb(title: JobWords.title(job), path: path)],
            content: content)
    }
}
