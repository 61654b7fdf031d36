import AdminService
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules
import TomboloServerModel
import TomboloLocalization

/// The start page: what needs attention, and the classes with the number of objects that the caller may see.
struct OverviewPages: PanelSection {
    private static let template = PanelTemplate(PackageResources.overview_mustache)
    /// Counting a class stops here: a larger count takes too long, and nobody needs the exact number here.
    private static let countLimit = 10_000
    /// The maximum number of notes on the rules that are shown.
    private static let noteLimit = 10

    func add(to panel: PanelRoutes) {
        let answers = panel.parts.api.answers
        panel.page(AdminPanel.path, entry: PanelEntry("Overview", in: .start), access: .own(localized("panel"))) {
            request, _ in
            .page(try await page(request, answers))
        }
    }

    private func page(_ request: PanelRequest, _ answers: ListAnswers) async throws -> PanelPage {
        let view = try request.view(under: request.core.rules.current)
        let reader = ResourceReader(view: view, answers: answers)
        var classes: [[String: Any]] = []
        for type in ClassPages.readable(view) {
            let count = try await reader.patientCount(
                type, matching: .constant(true), limit: Self.countLimit + 1, request.core.pool)
            classes.append([
                "title": ClassTitle.plural(of: type), "path": ClassPages.path(of: type),
                "count": PanelNumber.text(count, limit: Self.countLimit),
            ])
        }
        let trash = try await Trash(schema: view.schema, pool: request.core.pool)
            .attention(for: request.subject, under: view.rules)
        let attention = problems(trash, view, request.core.models)
        var values: [String: Any] = [
            "classes": classes, "hasClasses": !classes.isEmpty, "attention": attention,
            "hasAttention": !attention.isEmpty,
        ]
        if !trash.classes.isEmpty {
            values["trash"] = trash.classes.map { item -> [String: Any] in
                [
                    "title": title(item.name, view),
                    "count": PanelNumber.text(item.count, limit: TrashAttention.countLimit),
                ]
            }
            values["hasTrash"] = true
        }
        return PanelPage(localized("Overview"), content: Self.template.render(values))
    }

    private func title(_ className: String, _ view: CallerView) -> String {
        view.types.all.first { $0.item.name == className }.map(ClassTitle.plural) ?? className
    }

    /// Problems that somebody should act on.
    private func problems(
        _ trash: TrashAttention, _ view: CallerView, _ models: ServerModels?
    ) -> [[String: Any]] {
        var items: [String] = []
        for item in trash.classes where item.soon > 0 {
            let (title, count) = (title(item.name, view), PanelNumber.text(item.soon, limit: TrashAttention.countLimit))
            items.append(
                localized(
                    "\(title): \(count) in the trash will be deleted permanently within \(TrashAttention.soonDays) "
                        + "days."
                ))
        }
        if trash.failures > 0 {
            let count = PanelNumber.text(trash.failures)
            items.append(
                trash.reason.map { localized("The purge couldn't delete \(count) of the groups in the trash: \($0)") }
                    ?? localized("The purge couldn't delete \(count) of the groups in the trash."))
        }
        // Notes on the rules are shown only to users who may see a matrix.
        let model = models?.current
        if let model, model.matrices.keys.contains(where: { model.refusal(view.subject, .read, ofMatrixOf: $0) == nil })
        {
            items += view.rules.notes.prefix(Self.noteLimit).map { localized("A note on the rules: \($0)") }
        }
        if let problem = trash.problem { items.append(localized("The last purge ended early: \(problem)")) }
        return items.map { ["text": $0] }
    }
}
