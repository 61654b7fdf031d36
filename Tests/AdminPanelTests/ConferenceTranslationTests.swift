import Foundation
import ServiceTestSupport
import Testing
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel
import TomboloRules

@testable import AdminPanel

@Suite struct ConferenceTranslationTests {
    @Test("every class and property of the event platform has a name in all languages that come with it")
    func names() async throws {
        let folder = MessageSources.root.appending(path: "Apps/Conference/Translations")
        let languages = try PanelLanguages(folder: folder.path)
        let german = try #require(languages.catalogues.first { $0.language.tag == "de" })
        let known = Set(german.translations(inContext: MessageCatalogue.nameContext).keys)
        try await ServiceFixture.with { fixture in
            for type in ResourceTypes(fixture.rules.schema).all {
                var names = [ClassTitle.plural(of: type), ClassTitle.singular(of: type)]
                names += type.item.columns.map { ClassTitle.words($0.name) }.filter {
                    $0 != "Id" && !$0.hasSuffix("URL")
                }
                let missing = Set(names).subtracting(known)
                #expect(missing.isEmpty, "\(type.name): \(missing.sorted())")
            }
        }
    }
}
