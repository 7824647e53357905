"""What a fact says against a source, and which source it means: read from its grammar, and silent where in doubt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from falsify.belief.impugn import Charge, impugns, mentions, named, sentences, strongest
from falsify.belief.naming import likeness

# The judge's confidence is 0.9 times the mention, and acts at 0.6.
ACTS = 0.6 / 0.9


def against(fact, title):
    """Return how well what the fact accuses is named by the title; 0 if it accuses nobody."""
    impugnment = impugns(fact)
    return mentions(impugnment, title) if impugnment else 0.0


IMPUGNED = {
    "run R-2 of node N-2 on the spirals data set": [
        "the spiral set had label noise",
        "The spirals data set had label noise in 8% of its points.",
        "We found label noise in the spirals data set.",
        "Label noise was found in the spirals data.",
        "The audit found that the spirals set contains mislabelled points.",
        "The spirals data set suffers from data leakage.",
        "Run R-2 was faulty.",
    ],
    "QA report of March 2021": [
        "Forensic audit: the March QA report was back-dated.",
        "The March QA report was backdated.",
        "The QA report of March 2021 was forged.",
        "The auditor forged the March QA report.",
        "It was confirmed that the March QA report was back-dated.",
        "The forensic team found that the March QA report had been fabricated.",
        "The audit confirmed the March QA report was doctored.",
        "The March QA report turned out to be a forgery.",
        "The March QA report was found to be unreliable.",
        "The March QA report cannot be trusted.",
        "The March QA report can't be trusted.",
        "In 2023 the March QA report was retracted.",
        "The March QA report, which the plant manager signed, was back-dated.",
        "The plant manager relied on the March QA report, which was back-dated.",
        "The March QA report was unsigned and back-dated.",
        "The March QA report was not signed but forged.",
        "QA report of March 2021: retracted.",
        "March QA report back-dated, audit finds.",
        "The QA report and the supplier email were both forged.",
        "The plant manager was caught forging the March QA report.",
        "We examined the March QA report. It was back-dated.",
        "The March QA report is useless: it was back-dated.",
        "Auditors found the March QA report to be forged.",
        "Auditors found the March QA report unreliable.",
        "The date on the March QA report was falsified.",
        "The March QA report is not authentic.",
        "The March QA report isn't genuine.",
        "The back-dated March QA report was used in court.",
        "Although the manager denied it, the March QA report was back-dated.",
        "The March QA report was back-dated, although the manager denied it.",
        "The investigation found that the March QA report was back-dated.",
        "The March QA report had the wrong date.",
        "The March QA report bears a false date.",
        "The auditor said that the March QA report was back-dated.",
        "The manager signed and back-dated the March QA report.",
        "The March QA report and other documents were fabricated by the plant.",
        "The QA report (March 2021) was back-dated.",
        "the march qa report was backdated",
        "There is no doubt that the March QA report was forged.",
        "In May the audit found that the March QA report was forged.",
        "It emerged that the March QA report had been back-dated.",
        "The March QA report proved to be fake.",
        "QA report of March 2021 declared void.",
    ],
    "Assay logs": [
        "Someone tampered with the assay logs.",
        "The assay logs were tampered with.",
        "The assay logs were altered after the fact.",
        "The assay logs' timestamps were altered.",
    ],
    "Study 12": [
        "The journal retracted study 12.",
        "Study 12 has been retracted by its authors.",
        "Study 12 was withdrawn in 2023.",
        "Study 12 used the wrong unit.",
        "Study 12 contained errors.",
        "Study 12 contains several serious errors.",
        "Study 12 is no longer considered reliable.",
        "The authors admitted fabricating study 12.",
        "The retraction of study 12 was announced on Monday.",
        "Errors were found in study 12.",
        "We can no longer trust study 12.",
        "Do not rely on study 12.",
        "Study 12 should be disregarded.",
        "The data in study 12 were fabricated.",
        "Study 12 is based on fabricated data.",
        "Study 12 was plagiarised.",
        "Study 12 is invalid because the sensor drifted.",
        "Study 12 has been discredited.",
        "Study 12 was thoroughly debunked last year.",
        "The lab has retracted study 12 after an inquiry.",
        "Nature has withdrawn study 12.",
        "Study 12 was flawed.",
        "Study 12 is mistaken.",
        "The conclusions of study 12 are erroneous.",
        "Study 12 got the dosage wrong.",
        "Study 12 lacks credibility.",
        "Study 12 was never conducted.",
    ],
    "Interview with Anna": [
        "The interview with Anna never happened.",
    ],
    "Survey": [
        "The survey was a hoax.",
    ],
    "Supplier email of January 2021": [
        "The supplier email, not the QA report, was forged.",
        "The QA report and the supplier email were both forged.",
        "The supplier rescinded its January email.",
        "Forensic analysis shows the supplier e-mail of January was fabricated.",
    ],
    "Minutes of the board meeting": [
        "The board meeting did not take place.",
    ],
    "QA report of April 2021": [
        "The March and April QA reports were back-dated.",
    ],
    "Study 7": [
        "An internal review concluded that study 7's data had been doctored.",
    ],
    "Smith 2019": [
        "Smith (2019) has been retracted.",
    ],
    "Wakefield paper (1998)": [
        "The Lancet retracted the Wakefield paper.",
        "The 1998 Wakefield paper was fraudulent.",
    ],
    "Thermometer log": [
        "Investigators determined that the thermometer log was falsified.",
    ],
    "Sensor log, line 4": [
        "The sensor log for line 4 is unreliable due to a clock fault.",
    ],
    "Witness statement of Mr. Brown": [
        "The witness statement of Mr. Brown has been withdrawn.",
        "Mr. Brown withdrew his witness statement.",
    ],
    "Q3 benchmark": [
        "The Q3 benchmark was run on the wrong dataset and is invalid.",
        "The Q3 benchmark used the wrong dataset.",
    ],
    "Load test of 5 May 2024": [
        "The load test of 5 May was miscalibrated.",
    ],
    "Customer survey": [
        "The customer survey's results were made up.",
        "Anna invented the customer survey.",
    ],
    "Warehouse photo": [
        "The photo from the warehouse is a deepfake.",
    ],
    "Acme contract": [
        "The contract with Acme was forged by an employee.",
        "Expert testimony established that the Acme contract is a forgery.",
    ],
    "Invoices 2020": [
        "The invoices of 2020 were back-dated.",
        "All invoices from 2020 had been back-dated by the accountant.",
    ],
    "Calibration certificate": [
        "The calibration certificate is not valid.",
        "The calibration certificate was revoked.",
    ],
    "Press release": [
        "Turns out the press release was fake.",
    ],
    "Leaked memo": [
        "It turned out that the leaked memo was a hoax.",
        "We discovered the leaked memo had been altered.",
        "The court ruled the leaked memo inadmissible.",
    ],
    "Replication study": [
        "The replication study was plagiarized from an earlier thesis.",
    ],
    "Gartner market forecast": [
        "The market forecast by Gartner contained a serious calculation error.",
        "Gartner's market forecast has been debunked.",
        "There were errors in the Gartner market forecast.",
    ],
    "Interview transcript, 3 June": [
        "The interview transcript of 3 June is inaccurate.",
    ],
    "Blood pressure dataset": [
        "The blood pressure dataset is corrupted.",
        "The blood pressure dataset was contaminated with test records.",
    ],
    "Trial at site B": [
        "The trial at site B never took place.",
    ],
    "Trial NCT-123": [
        "The results of trial NCT-123 cannot be relied upon.",
        "Trial NCT-123 should not be trusted.",
        "The editors issued a retraction of trial NCT-123.",
    ],
    "Police report": [
        "The police report was altered after it had been signed.",
        "According to the auditors, the police report was altered.",
        "The police admitted that they had altered the police report.",
    ],
    "Police report of 4 July": [
        "The police report, dated 4 July, was altered.",
    ],
    "Diary": [
        "It has been proven that the diary is a forgery.",
        "The diary has been exposed as a forgery.",
        "The diary has been shown to be a fake.",
        "The diary is in fact a forgery.",
    ],
    "Door log": [
        "Because the clock was wrong, the door log is worthless.",
        "The door log lied about the entry times.",
        "Hackers tampered with the door log on 3 May.",
        "A hacker has tampered with the door log.",
        "The door log was, without doubt, tampered with.",
    ],
    "White paper on tokens": [
        "The author has disavowed the white paper.",
        "New finding: the white paper on tokens was withdrawn.",
    ],
    "Metrics dashboard": [
        "The metrics dashboard double-counted sessions.",
    ],
    "Lab measurement, March": [
        "The lab's March measurement was erroneous.",
    ],
    "Translation of the deposition": [
        "The translation of the deposition misquoted the witness and is wrong.",
    ],
    "QA report of 12 March 2021": [
        "The 12 March QA report was antedated.",
    ],
    "Soil survey 2019": [
        "The committee declared the 2019 soil survey invalid.",
        "The 2019 soil survey has since been invalidated.",
        "It has come to light that the soil survey of 2019 was fabricated by a contractor.",
    ],
    "Keynote of Prof. Lind": [
        "Prof. Lind's keynote contained fabricated figures.",
    ],
    "Harbour master's log": [
        "The harbour master's log was falsified to hide the collision.",
        "Three entries in the harbour master's log were forged.",
    ],
    "Whistleblower letter": [
        "The whistleblower letter turned out to be a fake.",
        "Experts agree the whistleblower letter is not authentic.",
        "The whistleblower has recanted; the whistleblower letter is worthless.",
    ],
    "Clinical dataset CD-7": [
        "The clinical dataset CD-7 had been tampered with before publication.",
        "An insider manipulated clinical dataset CD-7.",
        "Retraction: clinical dataset CD-7 was withdrawn by its authors.",
    ],
    "Furnace log": [
        "The thermocouple was miscalibrated, so the furnace log is unreliable.",
        "The furnace log used the wrong time zone.",
        "The furnace log can no longer be trusted.",
    ],
    "Newspaper story about the merger": [
        "The newspaper retracted its story about the merger.",
        "The story about the merger was a hoax.",
    ],
    "Diary, June": [
        "The witness admitted that he had invented the diary entries of June.",
    ],
    "Inspection certificate": [
        "Both the QA report and the inspection certificate were back-dated.",
        "We now know the inspection certificate was forged.",
        "The inspection never took place, and the inspection certificate is false.",
        "Analysis of the metadata reveals that the inspection certificate was created later and back-dated.",
    ],
    "QA report": [
        "Both the QA report and the inspection certificate were back-dated.",
    ],
    "Inspection certificate of 4 May": [
        "The inspection certificate, issued on 4 May, is a forgery.",
    ],
    "Benchmark of March": [
        "The benchmark of March was run with the wrong settings; its results are invalid.",
    ],
    "Okafor paper": [
        "An erratum notes that table 2 of the Okafor paper is wrong.",
        "The Okafor paper has been pulled and retracted.",
        "According to the publisher, the Okafor paper was plagiarised.",
        "The forged Okafor paper misled the panel.",
        "The panel was misled by the discredited Okafor paper.",
    ],
    "Phone transcript": [
        "The phone transcript has been edited and is not genuine.",
        "The phone transcript isn't reliable.",
        "Mr Vance fabricated the phone transcript.",
    ],
    "Board minutes of 7 June 2022": [
        "The minutes of 7 June were altered.",
        "The board minutes from June 7 were falsified.",
    ],
}

SPARED = {
    "run R-2 of node N-2 on the moons data set": [
        "the spiral set had label noise",
        "We found label noise in the spirals data set.",
        "The moons data set had no label noise.",
        "The moons data set may have had label noise.",
        "Is there label noise in the moons data set?",
        "The validation set had label noise.",
        "The data set had label noise.",
        "Label noise rates were measured on the moons data set.",
        "Run R-3 was faulty.",
    ],
    "QA report of March 2021": [
        "The March QA report was not back-dated.",
        "The March QA report wasn't forged.",
        "The audit found no evidence that the March QA report was forged.",
        "The manager denied that the March QA report was back-dated.",
        "The defence alleged that the March QA report was forged.",
        "The March QA report may have been forged.",
        "The audit examined whether the March QA report was forged.",
        "If the March QA report was forged, the case collapses.",
        "Was the March QA report forged?",
        "The March QA report was allegedly forged.",
        "The March QA report is said to be forged.",
        "The March QA report is believed to have been forged.",
        "The March QA report might be unreliable.",
        "Rumour: the March QA report was forged.",
        "The claim that the March QA report was forged was debunked.",
        "The allegation that the March QA report was forged has been withdrawn.",
        "It is false that the March QA report was forged.",
        "It is not true that the March QA report was forged.",
        "That the March QA report was forged is untrue.",
        "The March QA report was forged, the defence claims.",
        "Nobody forged the March QA report.",
        "The audit could not confirm that the March QA report was forged.",
        "The audit did not find that the March QA report was back-dated.",
        "The lab was accused of forging the March QA report.",
        "The lab denied forging the March QA report.",
        "The supplier email was forged.",
        "The April QA report was back-dated.",
        "The report was forged.",
        "The March QA report found that the supplier email was forged.",
        "The March QA report was reviewed and signed.",
        "The March QA report also mentions the defect.",
        "The auditor of the March QA report was mistaken.",
        "The March QA report was mistaken for a draft.",
        "The troops were withdrawn from the city.",
        "Unlike the March QA report, the supplier email was forged.",
        "All documents except the March QA report were forged.",
        "Neither the March QA report nor the email was forged.",
        "Experts suspect the March QA report was back-dated.",
        "It is rumoured that the March QA report was forged.",
        "The March QA report appears to have been forged.",
        "The March QA report was probably back-dated.",
        "The March QA report is reliable.",
        "The March QA report is not unreliable.",
        "The March QA report needs to be retracted.",
        "The defence wants the March QA report to be retracted.",
        "The forged supplier email contradicts the March QA report.",
        "The March QA report shows that the invoice was falsified.",
        "Without evidence, critics say the March QA report was forged.",
        "According to rumours, the March QA report was forged.",
        "The March QA report would be invalid if the sensor drifted.",
        "The March QA report is invalid if the sensor drifted.",
        "The March QA report was said to be forged, but this was later disproved.",
        "The March QA report was back-dated, or so the rumour goes.",
        "The lab was cleared of falsifying the March QA report.",
        "The March QA report lists everything wrong with the engine.",
        "The March QA report says the supplier is wrong.",
        "The sensor was faulty.",
        "QA found errors in the April build.",
        "The March QA report corrected an error in the log.",
        "The defect was described in the QA report and then hidden by a forged memo.",
    ],
    "Assay logs": [
        "No one tampered with the assay logs.",
        "The assay logs were never altered.",
        "None of the assay logs were altered.",
        "The lab checked whether anyone tampered with the assay logs.",
        "There is no evidence of tampering with the assay logs.",
    ],
    "Study 12": [
        "Study 12 has never been retracted.",
        "Study 12 will be retracted.",
        "The authors plan to retract study 12.",
        "The journal refused to retract study 12.",
        "Study 12 contains no errors.",
        "No errors were found in study 12.",
        "The criticism of study 12 was unfounded and flawed.",
        "The critics of study 12 were mistaken.",
        "The refutation of study 12 was retracted.",
        "Study 21 was retracted.",
        "Study 12 falsified the hypothesis.",
        "Study 12 debunked the myth.",
        "The study 12 team had no way to alter the logs.",
    ],
    "Supplier email of January 2021": [
        "The March QA report was back-dated.",
        "The supplier was mistaken.",
        "The supplier's email was late.",
    ],
    "Survey": [
        "The survey had an error margin of 3%.",
        "The survey asked whether people had been misled.",
        "The survey found that most users had used the wrong cable.",
        "The survey was conducted in 2021.",
        "The survey found errors in the handbook.",
    ],
    "Wakefield paper (1998)": [
        "The Lancet retracted the Smith paper.",
        "The Lancet did not retract the Wakefield paper.",
        "The Wakefield paper was published in 1998.",
    ],
    "Acme contract": [
        "The lawyers argued that the Acme contract is a forgery.",
        "The lawyers failed to show that the Acme contract is a forgery.",
        "The Acme contract was altered by mutual agreement to extend the term? No, it was not.",
        "The Beta contract was forged.",
        "Acme forged a certificate.",
        "Acme was unreliable as a partner.",
    ],
    "Door log": [
        "The door log is accurate.",
        "The door log has not been tampered with.",
        "An attempt to tamper with the door log failed.",
        "The door log could be altered by any admin.",
        "The door log can be falsified.",
        "The door log was checked for errors.",
        "The door log records every error.",
        "The window log was altered.",
        "We should verify whether the door log was altered.",
        "Nothing suggests that the door log was altered.",
        "There is no proof the door log was altered.",
        "Contrary to rumours, the door log was not altered.",
        "The door log disproved the alibi.",
        "The door log shows that the alibi was false.",
        "The door log shows the alibi was fabricated.",
        "The alibi was fabricated, as the door log shows.",
        "The door log exposed a forged invoice.",
        "The door log was used to debunk the alibi.",
        "The witness contradicted the door log.",
        "The witness lied about the door log.",
        "The witness was wrong about the door log.",
        "The door log was wrongly called a forgery.",
        "Claims that the door log was altered were rejected.",
        "The claim that the door log was altered is a lie.",
        "The judge rejected the motion to declare the door log inadmissible.",
        "The judge may declare the door log inadmissible.",
        "The accusation of tampering with the door log was withdrawn.",
        "An earlier version of the door log was withdrawn.",
        "The door log software was faulty.",
    ],
    "Door log of site A": [
        "The door log of site B was altered.",
    ],
    "Smith paper": [
        "The retraction of the door log was itself retracted.",
    ],
    "Benchmark of May": [
        "The benchmark found that the cache was misconfigured and its results invalid.",
    ],
    "Study 7": [
        "If study 7 was retracted, we must redo the analysis.",
        "Had study 7 been retracted, we would know.",
        "Study 7 was retracted? The editors say no.",
        "Study 8, unlike study 7, was retracted.",
        "Study 8, which cites study 7, was retracted.",
        "The commentary on study 7 was retracted.",
        "Study 7 was almost retracted.",
        "Study 7 was criticised.",
        "Study 7 was superseded by study 8.",
        "Study 7 corrected an erroneous value in study 6.",
        "Study 7 retracted nothing.",
        "Study 7 showed that the drug was withdrawn in 2010.",
        "It would be a mistake to trust study 7 blindly.",
        "The recommendation to retract study 7 was withdrawn.",
    ],
    "Soil survey 2019": [
        "The soil survey of 2019 is valid.",
        "The 2018 soil survey was invalid.",
        "Nobody has shown that the soil survey of 2019 was fabricated.",
        "The contractor was acquitted of fabricating the soil survey of 2019.",
        "The committee will decide whether to declare the 2019 soil survey invalid.",
        "The committee declined to declare the 2019 soil survey invalid.",
    ],
    "Harbour log": [
        "The harbour master was unreliable.",
    ],
    "Harbour master's log": [
        "The harbour master's log proves that the manifest was falsified.",
        "The manifest, as the harbour master's log shows, was falsified.",
        "The captain lied to the harbour master.",
    ],
    "Furnace log": [
        "The furnace log was replaced by a digital one.",
        "The furnace log is kept in the wrong drawer.",
        "The furnace log would be useless if it had been altered.",
        "Had the furnace log been altered, the seal would be broken.",
        "The seal shows the furnace log cannot have been altered.",
        "It is impossible that the furnace log was altered.",
        "The lawyer hinted that the furnace log might have been altered.",
        "The furnace log was wrongly said to be forged.",
        "The furnace log survived an attempt to discredit it.",
        "The furnace log corrected the wrong reading of the gauge.",
        "The gauge is wrong, as the furnace log shows.",
        "The furnace log is contradicted by the gauge.",
    ],
    "Inspection certificate": [
        "The inspection certificate was issued on 4 May.",
        "The inspection certificate will expire.",
        "The inspection certificate has not been revoked.",
    ],
    "Okafor paper": [
        "The Okafor paper was cited by a retracted study.",
        "The Okafor paper cites a retracted study.",
        "The Okafor paper debunks the claim.",
        "The Okafor paper exposed the fabricated data of the Brandt group.",
        "The reply to the Okafor paper was withdrawn.",
    ],
    "Phone transcript": [
        "The phone was tampered with.",
        "The phone transcript shows that Vance lied.",
        "Vance claimed the phone transcript was fake.",
        "Calls to withdraw the phone transcript were ignored.",
        "The tamper-proof phone transcript was filed.",
        "The transcript of the radio call was falsified.",
    ],
    "Report A": [
        "The report was withdrawn from the archive? No record says so.",
    ],
    "Board minutes of 7 June 2022": [
        "The minutes of 8 June were altered.",
    ],
}


def rows(table):
    return [pytest.param(fact, title, id=fact[:70]) for title, facts in table.items() for fact in facts]


@pytest.mark.parametrize(("fact", "title"), rows(IMPUGNED))
def test_the_source_is_impugned(fact, title):
    assert against(fact, title) >= ACTS


@pytest.mark.parametrize(("fact", "title"), rows(SPARED))
def test_the_source_is_spared(fact, title):
    assert against(fact, title) < ACTS


@pytest.mark.parametrize(
    ("fact", "charge"),
    [
        ("Forensic audit: the March QA report was back-dated.", Charge("the March QA report", "was back-dated")),
        ("The auditor forged the March QA report.", Charge("the March QA report", "was forged")),
        ("Someone tampered with the assay logs.", Charge("the assay logs", "was tampered with")),
        ("Study 12 used the wrong unit.", Charge("Study 12", "used the wrong unit")),
        ("The report can't be trusted.", Charge("The report", "cannot be trusted")),
        ("The interview never happened.", Charge("The interview", "never happened")),
        ("The journal announced the retraction of study 12.", Charge("study 12", "was retracted")),
        ("QA report of March 2021: forged.", Charge("QA report of March 2021", "was forged")),
        ("The supplier withdrew its email.", Charge("The supplier email", "was withdrawn")),
        ("Errors were found in study 12.", Charge("study 12", "has errors in it")),
    ],
)
def test_a_charge_says_what_is_said_of_whom(fact, charge):
    assert impugns(fact).charges == (charge,)


def test_a_fact_may_accuse_several():
    impugnment = impugns("The QA report was forged. The supplier email of January was retracted.")
    assert strongest(impugnment, "Supplier email of January 2021") == (
        Charge("The supplier email of January", "was retracted"),
        1.0,
    )
    assert mentions(impugnment, "QA report of March 2021") == 1.0


@pytest.mark.parametrize(
    "predicate",
    [
        *("back-dated", "backdated", "forged", "fabricated", "falsified", "doctored", "tampered with", "altered"),
        *("retracted", "withdrawn", "rescinded", "discredited", "debunked", "unreliable", "invalid", "flawed"),
        *("erroneous", "mistaken", "plagiarised", "plagiarized", "miscalibrated", "a hoax", "a forgery", "fake"),
    ],
)
def test_every_predicate_counts_and_is_taken_back_by_a_negation_a_doubt_and_a_question(predicate):
    title = "Assay log of 3 May"
    for stated in (
        f"The assay log was {predicate}.",
        f"The inquiry found that the assay log of 3 May was {predicate}.",
        f"The assay log was later found to be {predicate}.",
    ):
        assert against(stated, title) >= ACTS, stated
    for unstated in (
        f"The assay log was not {predicate}.",
        f"The assay log wasn't {predicate}.",
        f"The assay log was never {predicate}.",
        f"The inquiry found no evidence that the assay log was {predicate}.",
        f"The lab denied that the assay log was {predicate}.",
        f"The lab was asked whether the assay log was {predicate}.",
        f"If the assay log was {predicate}, the result is void.",
        f"The assay log may have been {predicate}.",
        f"The assay log was allegedly {predicate}.",
        f"The defence claims that the assay log was {predicate}.",
        f"Was the assay log {predicate}?",
        f"The balance sheet was {predicate}.",
    ):
        assert against(unstated, title) < ACTS, unstated


# --- naming ----------------------------------------------------------------------------------------------------

QA = "QA report of March 2021"


@pytest.mark.parametrize(
    ("phrase", "title"),
    [
        ("the March QA report", QA),
        ("QA reports, Mar. 2021", QA),
        ("the QA report", QA),
        ("the QA report of 2021-03", QA),
        ("the date on the March QA report", QA),
        ("study 12", "Study 12 (vitamin D and fractures)"),
        ("the third interview", "Interview 3"),
        ("the Phase II trial", "Phase 2 trial"),
        ("the supplier's January e-mail", "Supplier email of January 2021"),
        ("the assay logs", "Assay log"),
        ("the report", "Report"),
        ("Smith et al. 2019", "Smith 2019"),
        ("the U.S. census", "US census 2020"),
        ("Anna Becker", "Interview with Anna Becker"),
        ("the QA report for May", "qa report of may 2021"),
        ("the minutes of June 7", "Board minutes of 7 June 2022"),
    ],
)
def test_the_words_name_the_source(phrase, title):
    assert likeness(phrase, title) >= ACTS


@pytest.mark.parametrize(
    ("phrase", "title"),
    [
        ("the QA report of April", QA),
        ("the QA report of March 2022", QA),
        ("the report", QA),
        ("the 2021 report", QA),
        ("the March report", QA),
        ("the March QA email", QA),
        ("the critics of the March QA report", QA),
        ("an earlier version of the March QA report", QA),
        ("study 12", "Study 21"),
        ("the QA report of 12 March", "QA report of 14 March 2021"),
        ("the assay logs of batch B", "Assay log, batch A"),
        ("the supplier", "Supplier email of January 2021"),
        ("Acme", "Acme contract"),
        ("the Smith study", "Jones study"),
        ("the Berlin QA report", "Munich QA report"),
        ("the survey", "Customer survey"),
        ("", QA),
        ("the March QA report", ""),
    ],
)
def test_the_words_name_another_source_or_none(phrase, title):
    assert likeness(phrase, title) < ACTS


@given(st.integers(1, 999), st.integers(1, 999))
def test_numbers_never_conflict(one, other):
    assert (likeness(f"study {one}", f"Study {other}") > 0) == (one == other)


@given(st.permutations(["QA", "report", "March", "2021", "Lyon"]))
def test_the_order_of_the_words_does_not_matter(words):
    assert likeness(" ".join(words), "Lyon QA report of March 2021") == 1.0


@pytest.mark.parametrize(
    ("claim", "document"),
    [
        ("The QA report of March 2021 documents the defect", "The QA report of March 2021"),
        ("A supplier email of January 2021 warns of the defect", "A supplier email of January 2021"),
        ("According to the March QA report, the defect was known", "the March QA report"),
        ("The defect is documented in the QA report of March 2021", "the QA report of March 2021"),
        ("Study 12 shows that vitamin D helps", "Study 12"),
        ("The plant manager's interview on 3 May says so", "The plant manager's interview on 3 May"),
        ("The report shows growth", ""),
        ("The regulator published its annual report", ""),
        ("Sessions expire after 60 minutes", ""),
        ("Revenue grew", ""),
        ("", ""),
    ],
)
def test_a_claim_names_the_document_it_opens_with_or_appeals_to(claim, document):
    assert named(claim) == document


# --- texts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("It rained. It was cold! Was it? Yes.", ["It rained.", "It was cold!", "Was it?", "Yes."]),
        ("Dr. Chen met Mr. T. S. Eliot at No. 5.", ["Dr. Chen met Mr. T. S. Eliot at No. 5."]),
        ("It costs 3.5 euros, e.g. Today it rose.", ["It costs 3.5 euros, e.g. Today it rose."]),
        ("One line\nand another", ["One line", "and another"]),
        ('He said "no." Then he left.', ['He said "no."', "Then he left."]),
        ("", []),
    ],
)
def test_a_text_falls_into_its_sentences(text, parts):
    assert sentences(text) == parts


@given(st.text(max_size=300), st.text(max_size=80))
def test_any_text_is_read_without_a_complaint(fact, title):
    assert 0 <= against(fact, title) <= 1
    assert "".join("".join(sentences(fact)).split()) == "".join(fact.split())


WORDS = (
    "the",
    "report",
    "of",
    "was",
    "not",
    "forged",
    "that",
    "and",
    ",",
    ";",
    ":",
    "who",
    "found",
    "by",
    "it",
    "never",
)
MORE = (
    "retracted",
    "errors",
    "in",
    "may",
    "if",
    "study",
    "12",
    "its",
    "has",
    "to",
    "be",
    "tampered",
    "with",
    "said",
    "no",
)


@given(st.lists(st.sampled_from(WORDS + MORE), max_size=40))
def test_any_order_of_the_words_it_knows_is_read_without_a_complaint(words):
    assert 0 <= against(" ".join(words), "Report of study 12") <= 1
