"""Every model on every backbone keeps the contract."""

from tests.models.contract import LanguageModelContract


class TestVanillaOnLstm(LanguageModelContract):
    kind, backbone = "vanilla", "lstm"


class TestVanillaOnTransformerXl(LanguageModelContract):
    kind, backbone = "vanilla", "transformer-xl"


class TestAliasOnLstm(LanguageModelContract):
    kind, backbone = "alias", "lstm"


class TestAliasOnTransformerXl(LanguageModelContract):
    kind, backbone = "alias", "transformer-xl"


class TestNklmOnLstm(LanguageModelContract):
    kind, backbone = "nklm", "lstm"


class TestNklmOnTransformerXl(LanguageModelContract):
    kind, backbone = "nklm", "transformer-xl"


class TestLrlmOnLstm(LanguageModelContract):
    kind, backbone = "lrlm", "lstm"


class TestLrlmOnTransformerXl(LanguageModelContract):
    kind, backbone = "lrlm", "transformer-xl"


class TestLrlmWithSummaryOnLstm(LanguageModelContract):
    kind, backbone = "lrlm+summary", "lstm"


class TestLrlmWithSummaryOnTransformerXl(LanguageModelContract):
    kind, backbone = "lrlm+summary", "transformer-xl"


class TestLrlmWithNamesOnLstm(LanguageModelContract):
    kind, backbone = "lrlm+named", "lstm"


class TestLrlmWithNamesOnTransformerXl(LanguageModelContract):
    kind, backbone = "lrlm+named+told", "transformer-xl"


class TestLrlmWithToldOnLstm(LanguageModelContract):
    kind, backbone = "lrlm+told", "lstm"


class TestLrlmWithOwnTypesOnLstm(LanguageModelContract):
    kind, backbone = "lrlm+named+told+own_types", "lstm"


class TestLrlmBesideNamesOnLstm(LanguageModelContract):
    kind, backbone = "lrlm+summary+beside_names", "lstm"


class TestLrlmWithNameWordsOnLstm(LanguageModelContract):
    kind, backbone = "lrlm+name_words", "lstm"


class TestLrlmPlusOnTransformerXl(LanguageModelContract):
    kind, backbone = (
        "lrlm+named+fit+deep_fit+summary+beside_names+name_words+traits",
        "transformer-xl",
    )
