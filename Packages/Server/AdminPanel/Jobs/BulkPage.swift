import AdminService
import HTTPTypes
import Hummingbird
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel
import TomboloRules

/// The pages between a list and a job. The address holds the list's parameters; the form holds everything else.
struct BulkPage {
    private static let fieldsTemplate = PanelTemplate(PackageResources.bulk_fields_mustache)
    private static let trialTemplate = PanelTemplate(PackageResources.bulk_trial_mustache)
    private static let clashTemplate = PanelTemplate(PackageResources.bulk_clash_mustache)

    let request: PanelRequest
    let view: CallerView
    let type: ResourceType

    private var query: String { request.request.uri.query.map { "?\($0)" } ?? "" }
    /// The address of the list.
    var list: String { ClassPages.path(of: type) + query }
    private var path: String { BulkPages.path(of: type) + query }
    private var edit: EditPage { EditPage(request: request, view: view, type: type) }

    func answer() async throws -> PanelAnswer {
        var form = BulkForm(request.form)
        guard !form.isEmpty else {
            return .redirect(
                to: list, notice: PanelNotice(localized("Nothing is ticked. Tick rows, or choose all that match.")))
        }
        let isUpdate = form.action == "update"
        if isUpdate, form.step == .choose || request.form[EditPage.findField] != nil {
            return .page(try await fields(form, []))
        }
        let chosen = isUpdate ? try chosenFields() : []
        if isUpdate, chosen.isEmpty {
            return .page(
                try await fields(form, [RequestFailure(.unprocessable, "Tick at least one field to change.")]))
        }
        do {
            let data = isUpdate ? edit.document(setting: chosen) : nil
            if form.step == .start { return try await start(form, data) }
            return .page(try await trial(&form, data, chosen))
        } catch let failure as RequestFailure where isUpdate && failure.fieldName != nil {
            return .page(try await fields(form, [failure] + failure.others))
        }
    }

    private func work(_ form: BulkForm, _ data: JSON?, isDryRun: Bool) throws -> BulkWork {
        let parameters = try RequestParameters(request.request)
        let others = Set(parameters.all.map(\.family)).subtracting(form.isAll ? ["filter"] : [])
        var search: BulkWork.Search?
        if form.isAll, let text = parameters.value("q"), !text.isEmpty {
            search = BulkWork.Search(text, ListRequest.predicate(text, type, view.fields(of: type)))
        }
        return try BulkWork(
            form.body(data, isDryRun: isDryRun), matching: parameters.without(others), search, of: type, for: view,
            .of(request.core.pool))
    }

    // MARK: Which fields

    /// The ticked fields, with the values entered for them.
    private func chosenFields() throws -> [(field: FormField, value: JSON)] {
        let content = try edit.sent()
        return edit.fields.filter { request.form[BulkForm.setPrefix + $0.field.name] != nil }.map { field in
            (field, field.json(content.entered[field.field.name] ?? "", was: .null))
        }
    }

    private func fields(_ form: BulkForm, _ problems: [RequestFailure]) async throws -> PanelPage {
        var content = try edit.sent()
        content.problems = problems
        var controls: [[String: Any]] = []
        let choices = FormChoices()
        for field in edit.fields {
            var control = try await edit.control(field, content, isNew: true, choices)
            control["isRequired"] = false
            let name = BulkForm.setPrefix + field.field.name
            control["set"] = [
                "name": name, "id": "s-\(field.field.name)", "isChosen": request.form[name] != nil,
                "label": field.title,
            ]
            controls.append(control)
        }
        var values: [String: Any] = [
            "formToken": request.visit.token.formToken, "action": path, "cancel": list, "fields": controls,
            "hidden": form.hidden(.attempt, keepsFields: false), "problems": problems.map { ["text": $0.message] },
            "hasProblems": !problems.isEmpty,
        ]
        let objects = ClassTitle.inSentence(ClassTitle.plural(of: type))
        values["about"] =
            form.isAll
            ? localized("All matching \(objects)") : Counted.objects(form.ids.count, of: type.item.name)
        return PanelPage(
            localized("Change \(objects)"), crumbs: crumbs,
            content: Self.fieldsTemplate.render(values), status: problems.first?.code.status ?? .ok)
    }

    private var crumbs: [PanelPage.Crumb] { [PanelPage.Crumb(title: ClassTitle.plural(of: type), path: list)] }

    // MARK: What would happen

    private func trial(
        _ form: inout BulkForm, _ data: JSON?, _ chosen: [(field: FormField, value: JSON)]
    ) async throws -> PanelPage {
        let found = try await work(form, data, isDryRun: true).dryRun(request.core.pool)
        let count = found["count"]?.number ?? 0
        let words = BulkWords(action: form.action, count: count, type: type)
        let gone = form.isAll ? 0 : form.ids.count - count
        if gone > 0 {
            form.keep(Set(try await edit.reader.choices(of: type, among: form.ids).map { .string($0.id) }))
        }
        var sets: [String] = []
        for (field, value) in chosen { sets.append("\(field.title): \(try await edit.text(value, field))") }
        let content = BulkTrialContent(
            found, words, sets: sets, gone: gone, titles: try await titles(found), isUndoable: form.action != "delete")
        var values = request.values(content)
        values["action"] = path
        values["cancel"] = form.action == "restore" ? TrashPages.path : list
        values["hidden"] = form.hidden(.start, expecting: found)
        if form.action == "trash" { values["reason"] = RemovalPage.reasonField(form.reason) }
        return PanelPage(
            count > 0 ? words.question : localized("Nothing matches"), crumbs: crumbs,
            content: Self.trialTemplate.render(values))
    }

    /// Titles of refused and kept objects, as far as the caller can see them.
    private func titles(_ found: JSON) async throws -> ChoiceTitles {
        let ids = ["refusals", "keptBecause"].flatMap { found[$0]?.items ?? [] }.compactMap { $0["id"]?.text }
        return ChoiceTitles(try await edit.reader.choices(of: type, among: ids))
    }

    // MARK: The job

    private func start(_ form: BulkForm, _ data: JSON?) async throws -> PanelAnswer {
        let work = try work(form, data, isDryRun: false)
        // Irreversible actions require the password, and so do those that grant roles.
        let restoresRoles = try await work.restoresRoles(request.core.pool)
        if form.action == "delete" || restoresRoles {
            try await request.demandPassword()
        } else {
            try await edit.demandPassword()
        }
        do {
            let job = try await work.start(request.core.pool)
            return .redirect(to: JobPages.path(of: job))
        } catch let failure as RequestFailure where failure.code == .conflict {
            let values: [String: Any] = [
                "formToken": request.visit.token.formToken, "message": failure.message, "action": path,
                "cancel": list, "hidden": form.hidden(.attempt),
            ]
            return .page(
                PanelPage(
                    localized("The matching objects have changed"), crumbs: crumbs,
                    content: Self.clashTemplate.render(values),
                    status: failure.code.status))
        }
    }
}
