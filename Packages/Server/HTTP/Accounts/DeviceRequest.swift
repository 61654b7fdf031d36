import TomboloAuthentication
import TomboloModel

/// What a login says about its device. Every member is optional.
struct DeviceRequest: Codable {
    /// The deviceID of an earlier answer; anything else counts as a new device.
    var id: String?
    var name: String?
    var platform: String?
    var app: String?

    init(_ device: LoginDevice) {
        (id, name, platform, app) = (device.id.stringValue, device.name, device.platform, device.app)
    }

    var device: LoginDevice {
        LoginDevice(id: id.flatMap { try? ObjectId(string: $0) }, name: name, platform: platform, app: app)
    }
}
