import AdminService
import Foundation
import TomboloHTTP

/// What a list reads of a bytes property: its length and its first bytes.
struct BytesBeginning {
    /// Larger images aren't shown in lists at full size: a page has up to 200 rows, and a browser requests each image
    /// separately.
    static let maximumImageByteCount = 256 << 10
    /// The side of the square into which an image in a list is fitted, in pixels.
    static let imageSide = 48

    let byteCount: Int
    private let beginning: Data

    /// - Returns: nil unless it's the JSON that `ResourcePlan` makes when it reads only the beginning of bytes.
    init?(_ json: JSON?) {
        guard case .object(let members)? = json, case .int(let byteCount)? = members["byteCount"],
            case .string(let text)? = members["beginning"], let beginning = Data(base64Encoded: text)
        else { return nil }
        self.byteCount = Int(byteCount)
        self.beginning = beginning
    }

    /// Whether a list shows it as an image.
    /// - Parameter hasThumbnails: whether large images are shown as thumbnails.
    func isShown(hasThumbnails: Bool) -> Bool {
        let limit = hasThumbnails ? Thumbnails.maximumByteCount : Self.maximumImageByteCount
        return byteCount <= limit && ImageType(beginning) != nil
    }
}
