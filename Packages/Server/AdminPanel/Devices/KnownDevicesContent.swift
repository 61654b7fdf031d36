import AdminService

/// The values for the template `devices_known`: every device in the database.
struct KnownDevicesContent: Sendable {
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
        previous = page > 1 ? "\(DevicePages.knownPath)?page=\(page - 1)" : nil
        next = found.hasMore ? "\(DevicePages.knownPath)?page=\(page + 1)" : nil
    }
}
