import AdminService
import TomboloHTTP
import TomboloServerModel

/// The devices that sync, and how to ask a gateway about one: for those whom the rules permit to `inspect`.
struct DevicePages: PanelSection {
    private static let path = "\(AdminPanel.path)/devices"
    private static let template = PanelTemplate(PackageResources.devices_mustache)

    func add(to panel: PanelRoutes) {
        guard let models = panel.core.models else { return }
        panel.page(
            Self.path, entry: PanelEntry("Sync devices", in: .system), access: .inspecting(models)
        ) { request, _ in
            let page = try request.pageNumber()
            let found = try await SyncDevices(request.core.pool).page(page)
            let content = DevicesContent(found, page: page, now: request.now)
            return .page(PanelPage("Sync devices", content: Self.template.render(request.values(content))))
        }
    }
}

/// What the template `devices` shows.
struct DevicesContent: Sendable {
    struct Line: Sendable {
        let id: String
        let userID: String
        let user: String
        let opened: Moment
        let seen: Moment
        let uploads: String

        init(_ device: SyncDevices.Device, now: Int64) {
            id = device.id
            userID = device.userID
            user = device.userName ?? device.userID
            opened = Moment(device.openedAt, now: now)
            seen = Moment(device.seenAt, now: now)
            uploads = PanelNumber.text(Int(device.uploadCount))
        }
    }

    let devices: [Line]
    let page: Int
    let previous: String?
    let next: String?

    init(_ found: (devices: [SyncDevices.Device], hasMore: Bool), page: Int, now: Int64) {
        devices = found.devices.map { Line($0, now: now) }
        self.page = page
        previous = page > 1 ? "/panel/devices?page=\(page - 1)" : nil
        next = found.hasMore ? "/panel/devices?page=\(page + 1)" : nil
    }
}
